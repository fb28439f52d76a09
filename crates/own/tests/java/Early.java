class Early {
    static int[][] distances;
    static int[] late;
    static final int[] TABLE = {1, 2, 3};
    static int limit;
    static String[] filled = new String[1];
    static class Config { int size; int used; }
    static void load(Config config) { config.size = 3; limit = 9; fill(); }
    static void fill() { for (int i = 0; i < 3; i++) for (int j = 0; j < 3; j++) distances[i][j] = i * j; }
    static int sum(Config config) {
        int sum = config.size + limit;
        for (int[] row : distances) for (int d : row) sum += d;
        sum += TABLE[1];
        sum += late[0] + filled[0].length();
        config.used++;
        return sum;
    }
    public static void main(String[] args) {
        distances = new int[3][3];
        late = new int[1];
        Config config = new Config();
        load(config);
        new Thread(() -> System.out.println(sum(config))).start();
        late[0] = 1;
        new java.util.ArrayList<>(java.util.List.of("a")).toArray(filled);
        System.out.println(sum(config));
    }
}
