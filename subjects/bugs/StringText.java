/* bug:
 *   rule atomicity | atomic-set | unserializable
 *   variable Text.count | Text.chars
 *   evidence harmful
 *   outcome exception
 * about: Appending one text to another asks for its length and then copies that many characters; both calls are
 *   synchronized, but in between the other text is cut, and the copy runs out of bounds.
 */
public class StringText {
    static class Text {
        private char[] chars = new char[16];
        private int count;

        Text(String text) {
            text.getChars(0, text.length(), chars, 0);
            count = text.length();
        }

        synchronized int length() {
            return count;
        }

        synchronized void copyTo(int length, char[] target, int at) {
            if (length > count) {
                throw new IndexOutOfBoundsException(length + " of " + count);
            }
            for (int i = 0; i < length; i++) {
                target[at + i] = chars[i];
            }
        }

        synchronized void append(Text other) {
            int length = other.length();
            other.copyTo(length, chars, count);
            count += length;
        }

        synchronized void clear() {
            count = 0;
        }

        @Override
        public synchronized String toString() {
            return new String(chars, 0, count);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Text all = new Text("head ");
        Text part = new Text("body");
        runBoth(() -> all.append(part), part::clear);
        System.out.println(all + "|" + part);
    }

    static void runBoth(Runnable first, Runnable second) throws InterruptedException {
        Thread t1 = new Thread(first, "t1");
        Thread t2 = new Thread(() -> {
            nap(100);
            second.run();
        }, "t2");
        t1.start();
        t2.start();
        t1.join();
        t2.join();
    }

    static void nap(int millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
