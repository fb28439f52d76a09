/* fault:
 *   exit 0
 *   output exact
 * about: the serialVersionUID of classes that do not declare one is computed from their members, and must not
 *   change; the same for a serialised copy made before
 */
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.ObjectStreamClass;
import java.io.ObjectStreamField;
import java.io.Serializable;

@SuppressWarnings("serial")
public class SerialVersion {
    static class Plain implements Serializable {
        int number = 4;
        private String name = "plain";
        protected transient int skipped = 2;

        synchronized int add(int amount) {
            return number += amount;
        }
    }

    static class WithInitialiser implements Serializable, Comparable<WithInitialiser> {
        static int count = Integer.parseInt("3");
        double ratio = 0.5;

        @Override
        public int compareTo(WithInitialiser other) {
            return 0;
        }
    }

    static class Derived extends Plain {
        int[] cells = {1, 2};
    }

    static void show(Class<?> type) {
        ObjectStreamClass description = ObjectStreamClass.lookup(type);
        System.out.println(type.getName() + " " + description.getSerialVersionUID());
        for (ObjectStreamField field : description.getFields()) {
            System.out.println("  " + field.getTypeCode() + " " + field.getName());
        }
    }

    public static void main(String[] args) throws Exception {
        show(Plain.class);
        show(WithInitialiser.class);
        show(Derived.class);
        Derived derived = new Derived();
        Thread t1 = new Thread(() -> derived.add(5), "t1");
        t1.start();
        t1.join();
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeObject(derived);
        }
        StringBuilder hex = new StringBuilder();
        for (byte each : bytes.toByteArray()) {
            hex.append(String.format("%02x", each));
        }
        System.out.println(hex);
        try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()))) {
            Derived back = (Derived) in.readObject();
            System.out.println(back.number + " " + back.cells[1] + " " + back.skipped);
        }
    }
}
