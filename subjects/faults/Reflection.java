/* fault:
 *   exit 0
 *   output exact
 * about: a class lists its own fields, methods, constructors, interfaces, superclass and modifiers; nothing that
 *   a recorder adds may be seen. Fields are read, written and methods called by reflection.
 */
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.Comparator;

public class Reflection {
    abstract static class Base {
        protected int inherited;
    }

    static class Subject extends Base implements Comparable<Subject>, Cloneable {
        private int number = 3;
        volatile long wide;
        static String name = "subject";
        final int[] cells = {1, 2};

        Subject() {
        }

        private Subject(int number) {
            this.number = number;
        }

        @Override
        public int compareTo(Subject other) {
            return Integer.compare(number, other.number);
        }

        synchronized void add(int amount) {
            number += amount;
        }

        private static int twice(int x) {
            return 2 * x;
        }
    }

    record Pair(int left, String right) {
    }

    enum Kind { ONE, TWO }

    static void list(Class<?> type) {
        System.out.println(Modifier.toString(type.getModifiers()) + " " + type.getName() + " extends "
                + type.getSuperclass().getName() + " implements " + Arrays.toString(type.getInterfaces()));
        Field[] fields = type.getDeclaredFields();
        Arrays.sort(fields, Comparator.comparing(Field::getName));
        for (Field field : fields) {
            System.out.println("  field " + field);
        }
        Constructor<?>[] constructors = type.getDeclaredConstructors();
        Arrays.sort(constructors, Comparator.comparing(Constructor::toString));
        for (Constructor<?> constructor : constructors) {
            System.out.println("  constructor " + constructor);
        }
        Method[] methods = type.getDeclaredMethods();
        Arrays.sort(methods, Comparator.comparing(Method::toString));
        for (Method method : methods) {
            if (!method.isSynthetic()) {
                System.out.println("  method " + method);
            }
        }
    }

    public static void main(String[] args) throws Exception {
        list(Subject.class);
        list(Base.class);
        list(Pair.class);
        list(Kind.class);
        System.out.println(Arrays.toString(Pair.class.getRecordComponents()));
        Subject subject = new Subject(5);
        Thread t1 = new Thread(() -> subject.add(1), "t1");
        t1.start();
        t1.join();
        Field number = Subject.class.getDeclaredField("number");
        number.setAccessible(true);
        number.setInt(subject, number.getInt(subject) * 10);
        Method add = Subject.class.getDeclaredMethod("add", int.class);
        add.invoke(subject, 2);
        System.out.println(number.get(subject));
        Method twice = Subject.class.getDeclaredMethod("twice", int.class);
        twice.setAccessible(true);
        System.out.println(twice.invoke(null, 21));
        StringBuilder added = new StringBuilder();
        for (Class<?> type : new Class<?>[] {Thread.class, Object.class, Class.class, java.util.ArrayList.class,
            java.util.HashMap.class}) {
            for (Field field : type.getDeclaredFields()) {
                if (field.getName().contains("$")) {
                    added.append(field).append(' ');
                }
            }
            for (Method method : type.getDeclaredMethods()) {
                if (method.getName().contains("ravel")) {
                    added.append(method).append(' ');
                }
            }
        }
        System.out.println("added: " + added);
    }
}
