/* expect:
 *   thread main, t1
 *   write Letter.text == 1 by t1
 *   fork t1 == 1 by main
 *   join t1 == 1 by main
 * about: an object with default and custom serialisation written and read back; the bytes must be those of a plain run,
 *   so their number and a sum of them are printed
 */
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.Serializable;
import java.util.ArrayList;

public class Serialization {
    static class Letter implements Serializable {
        private static final long serialVersionUID = 1;
        String text = "dear";
        int[] stamps = {1, 2, 3};
        transient int opened = 4;
        ArrayList<String> copies = new ArrayList<>();

        private void writeObject(ObjectOutputStream out) throws IOException {
            out.defaultWriteObject();
            out.writeInt(opened);
        }

        private void readObject(ObjectInputStream in) throws IOException, ClassNotFoundException {
            in.defaultReadObject();
            opened = in.readInt();
        }
    }

    public static void main(String[] args) throws Exception {
        Letter letter = new Letter();
        Thread t1 = new Thread(() -> letter.text = "hello", "t1");
        t1.start();
        t1.join();
        letter.copies.add("one");
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeObject(letter);
        }
        int sum = 0;
        for (byte each : bytes.toByteArray()) {
            sum += each;
        }
        System.out.println(bytes.size() + " " + sum);
        try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()))) {
            Letter back = (Letter) in.readObject();
            System.out.println(back.text + back.stamps[2] + back.opened + back.copies);
        }
    }
}
