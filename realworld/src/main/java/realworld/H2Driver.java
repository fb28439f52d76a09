package realworld;

import java.sql.DriverManager;

/** H2 in memory, four threads. */
public final class H2Driver {
    private H2Driver() {
    }

    public static void main(String[] args) throws Exception {
        String url = "jdbc:h2:mem:bank;DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=10000";
        System.out.println("h2: " + new SqlWorkload(() -> DriverManager.getConnection(url), 4, 2000).run());
        DriverManager.getConnection(url).createStatement().execute("shutdown");
    }
}
