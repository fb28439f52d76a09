/* expect:
 *   thread main, t1
 *   write AbstractStringBuilder.count >= 1 by t1
 *   write Buffer.position >= 1 by t1
 *   write Matcher.last >= 1 by t1
 *   write ByteArrayOutputStream.count >= 1 by t1
 *   acquire ByteArrayOutputStream >= 1 by t1
 *   write StringJoiner.size >= 1 by t1
 *   write StringTokenizer.currentPosition >= 1 by t1
 *   write Scanner.position >= 1 by t1
 *   write EnumMap.size == 1 by t1
 *   write WeakHashMap.size == 1 by t1
 * about: what the JDK uses everywhere itself counts where the program calls it: t1 uses what main has made and used
 */
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.EnumMap;
import java.util.Map;
import java.util.Scanner;
import java.util.StringJoiner;
import java.util.StringTokenizer;
import java.util.WeakHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

public class SharedTools {
    enum Day { MONDAY, TUESDAY }

    public static void main(String[] args) throws InterruptedException {
        StringBuilder text = new StringBuilder("a");
        text.append('b');
        ByteBuffer bytes = ByteBuffer.allocate(4);
        bytes.put((byte) 1);
        Matcher matcher = Pattern.compile("[a-z]+").matcher("abc");
        matcher.find();
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.write(1);
        StringJoiner joiner = new StringJoiner(",");
        joiner.add("a");
        StringTokenizer tokens = new StringTokenizer("a b c");
        tokens.nextToken();
        Scanner scanner = new Scanner("1 2 3");
        scanner.nextInt();
        Map<Day, Integer> days = new EnumMap<>(Day.class);
        days.put(Day.MONDAY, 1);
        Map<String, Integer> weak = new WeakHashMap<>();
        weak.put("a", 1);
        Thread t1 = new Thread(() -> {
            text.append("c");
            bytes.put((byte) 2);
            matcher.reset("def");
            matcher.find();
            out.write(2);
            joiner.add("b");
            tokens.nextToken();
            scanner.nextInt();
            days.put(Day.TUESDAY, 2);
            weak.put("b", 2);
        }, "t1");
        t1.start();
        t1.join();
        System.out.println(text + " " + bytes.position() + " " + out.size() + " " + joiner + " " + days.size() + " " + weak.size());
    }
}
