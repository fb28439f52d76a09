/* silent
 * As String does: the hash is computed when first asked for and kept in a plain field. Two threads may both compute it,
 * and write the same.
 */
public class HashCaching {
    static class Name {
        private final char[] letters;
        private int hash;

        Name(String name) {
            letters = name.toCharArray();
        }

        @Override
        public int hashCode() {
            int h = hash;
            if (h == 0) {
                for (char letter : letters) {
                    h = 31 * h + letter;
                }
                hash = h;
            }
            return h;
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Name name && java.util.Arrays.equals(letters, name.letters);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Name name = new Name("ravel");
        int[] hashes = new int[2];
        Thread t1 = new Thread(() -> hashes[0] = name.hashCode(), "t1");
        Thread t2 = new Thread(() -> hashes[1] = name.hashCode(), "t2");
        t1.start();
        t2.start();
        t1.join();
        t2.join();
        System.out.println(hashes[0] == hashes[1]);
    }
}
