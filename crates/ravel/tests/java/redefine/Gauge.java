class Gauge {
    int reads;

    int version() {
        reads++;
        return 1;
    }
}
