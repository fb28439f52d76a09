package shop;

final class Hits {
    static long total;

    static void hit() {
        total++;
    }
}
