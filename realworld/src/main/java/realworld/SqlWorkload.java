package realworld;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Random;

/**
 * A bank in SQL: threads move money between accounts, write a journal and read reports, each over its own connection.
 * Conflicts are rolled back and tried again, so the totals at the end are always the same.
 */
final class SqlWorkload {
    /** How a database is reached. */
    interface Source {
        Connection connect() throws SQLException;
    }

    private static final int ACCOUNTS = 100;
    private static final int START = 1000;
    private static final int ATTEMPTS = 10_000;

    private final Source source;
    private final int threads;
    private final int transfers;

    SqlWorkload(Source source, int threads, int transfers) {
        this.source = source;
        this.threads = threads;
        this.transfers = transfers;
    }

    String run() throws Exception {
        prepare();
        Workers.run("sql", threads, this::work);
        return summary();
    }

    private void prepare() throws SQLException {
        try (Connection connection = source.connect(); Statement statement = connection.createStatement()) {
            statement.execute("create table account (id int primary key, owner varchar(40), balance bigint not null)");
            statement.execute("create table journal (worker int not null, number int not null, source int not null, "
                    + "target int not null, amount bigint not null, primary key (worker, number))");
            statement.execute("create index journal_source on journal (source)");
            try (PreparedStatement insert = connection.prepareStatement("insert into account values (?, ?, ?)")) {
                for (int i = 0; i < ACCOUNTS; i++) {
                    insert.setInt(1, i);
                    insert.setString(2, "owner " + i);
                    insert.setLong(3, START);
                    insert.executeUpdate();
                }
            }
        }
    }

    private void work(int worker) throws SQLException {
        Random random = new Random(worker);
        try (Connection connection = source.connect()) {
            connection.setAutoCommit(false);
            for (int i = 0; i < transfers; i++) {
                int from = random.nextInt(ACCOUNTS);
                int to = (from + 1 + random.nextInt(ACCOUNTS - 1)) % ACCOUNTS;
                int amount = 1 + random.nextInt(20);
                retry(connection, worker, i, from, to, amount);
                if (i % 25 == 24) {
                    report(connection, from);
                }
            }
        }
    }

    private void retry(Connection connection, int worker, int number, int from, int to, int amount)
            throws SQLException {
        for (int attempt = 1; ; attempt++) {
            try {
                transfer(connection, worker, number, from, to, amount);
                connection.commit();
                return;
            } catch (SQLException e) {
                connection.rollback();
                if (attempt == ATTEMPTS) {
                    throw e;
                }
            }
        }
    }

    private static void transfer(Connection connection, int worker, int number, int from, int to, int amount)
            throws SQLException {
        // Always the smaller number first: conflicts are possible, circles are not.
        add(connection, Math.min(from, to), from < to ? -amount : amount);
        add(connection, Math.max(from, to), from < to ? amount : -amount);
        try (PreparedStatement insert = connection.prepareStatement("insert into journal values (?, ?, ?, ?, ?)")) {
            insert.setInt(1, worker);
            insert.setInt(2, number);
            insert.setInt(3, from);
            insert.setInt(4, to);
            insert.setLong(5, amount);
            insert.executeUpdate();
        }
    }

    private static void add(Connection connection, int account, int amount) throws SQLException {
        try (PreparedStatement update =
                connection.prepareStatement("update account set balance = balance + ? where id = ?")) {
            update.setLong(1, amount);
            update.setInt(2, account);
            update.executeUpdate();
        }
    }

    private static void report(Connection connection, int account) throws SQLException {
        try (PreparedStatement query =
                connection.prepareStatement("select count(*), sum(amount) from journal where source = ?")) {
            query.setInt(1, account);
            try (ResultSet result = query.executeQuery()) {
                result.next();
                result.getLong(2);
            }
            connection.commit();
        } catch (SQLException e) {
            // A report that met a conflict is not worth a second try.
            connection.rollback();
        }
    }

    private String summary() throws SQLException {
        try (Connection connection = source.connect(); Statement statement = connection.createStatement()) {
            long total = number(statement, "select sum(balance) from account");
            long entries = number(statement, "select count(*) from journal");
            long moved = number(statement, "select sum(amount) from journal");
            long wrong = number(statement, "select count(*) from account a where a.balance <> " + START
                    + " + coalesce((select sum(amount) from journal where target = a.id), 0)"
                    + " - coalesce((select sum(amount) from journal where source = a.id), 0)");
            return "total " + total + ", entries " + entries + ", moved " + moved + ", wrong accounts " + wrong;
        }
    }

    private static long number(Statement statement, String query) throws SQLException {
        try (ResultSet result = statement.executeQuery(query)) {
            result.next();
            return result.getLong(1);
        }
    }
}
