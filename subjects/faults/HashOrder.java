/* fault:
 *   exit 0
 *   output exact
 * about: the order of a HashMap and a HashSet of strings, numbers and enums is fixed; so is that of a map of
 *   objects with a hash of their own
 */
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Set;

public class HashOrder {
    static class Key {
        final int number;

        Key(int number) {
            this.number = number;
        }

        @Override
        public int hashCode() {
            return number % 5;
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Key key && key.number == number;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Map<String, Integer> words = new HashMap<>();
        Set<Object> mixed = new HashSet<>();
        Map<Key, Integer> keys = new HashMap<>();
        Thread t1 = new Thread(() -> {
            for (String word : "the quick brown fox jumps over the lazy dog".split(" ")) {
                words.merge(word, 1, Integer::sum);
                mixed.add(word);
            }
            for (int i = 0; i < 12; i++) {
                keys.put(new Key(i), i);
            }
        }, "t1");
        t1.start();
        t1.join();
        mixed.add(42);
        mixed.add(3.5);
        System.out.println(words);
        System.out.println(mixed);
        System.out.println(keys.values());
        Object one = new Object();
        Map<Object, String> identity = new IdentityHashMap<>();
        identity.put(one, "one");
        synchronized (one) {
            System.out.println(identity.get(one) + " " + (one.hashCode() == System.identityHashCode(one)));
        }
    }
}
