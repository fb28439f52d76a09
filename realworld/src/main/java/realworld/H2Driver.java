package realworld;

import java.sql.DriverManager;

/** H2 in memory, four threads. Argument: how many times the usual number of transfers (default 1). */
public final class H2Driver {
    private H2Driver() {
    }

    public static void main(String[] args) throws Exception {
        int times = args.length > 0 ? Integer.parseInt(args[0]) : 1;
        String url = "jdbc:h2:mem:bank;DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=10000";
        System.out.println("h2: " + new SqlWorkload(() -> DriverManager.getConnection(url), 4, 2000 * times).run());
        DriverManager.getConnection(url).createStatement().execute("shutdown");
    }
}
