package realworld;

import java.sql.DriverManager;
import java.sql.SQLException;

/** Derby in memory, four threads. */
public final class DerbyDriver {
    private DerbyDriver() {
    }

    public static void main(String[] args) throws Exception {
        // Nothing may be left in the working folder.
        System.setProperty("derby.stream.error.method", DerbyDriver.class.getName() + ".nowhere");
        // A deadlock is rolled back and tried again; nobody should wait long for that.
        System.setProperty("derby.locks.deadlockTimeout", "1");
        String url = "jdbc:derby:memory:bank";
        DriverManager.getConnection(url + ";create=true").close();
        System.out.println("derby: " + new SqlWorkload(() -> DriverManager.getConnection(url), 4, 400).run());
        try {
            DriverManager.getConnection("jdbc:derby:;shutdown=true");
        } catch (SQLException e) {
            // Derby reports a successful shutdown as an exception of this state.
            if (!"XJ015".equals(e.getSQLState())) {
                throw e;
            }
        }
    }

    /** Called by Derby to get its error log. */
    public static java.io.OutputStream nowhere() {
        return java.io.OutputStream.nullOutputStream();
    }
}
