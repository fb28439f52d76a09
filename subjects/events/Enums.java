/* expect:
 *   thread main, t1
 *   write Level.uses == 1 by t1
 *   acquire Level == 1 by t1
 *   read Level.weight == 0
 *   initialized Level >= 1
 * about: enum constants with bodies and mutable state, used as locks, in a switch and as keys of an EnumMap
 */
import java.util.EnumMap;
import java.util.Map;

public class Enums {
    enum Level {
        LOW(1),
        HIGH(10) {
            @Override
            int cost() {
                return weight * 2;
            }
        };

        final int weight;
        int uses;

        Level(int weight) {
            this.weight = weight;
        }

        int cost() {
            return weight;
        }

        synchronized void use() {
            uses++;
        }
    }

    static String name(Level level) {
        switch (level) {
            case LOW:
                return "low";
            case HIGH:
                return "high";
            default:
                return "?";
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Map<Level, Integer> costs = new EnumMap<>(Level.class);
        Level.LOW.use();
        Thread t1 = new Thread(Level.LOW::use, "t1");
        t1.start();
        t1.join();
        for (Level level : Level.values()) {
            costs.put(level, level.cost());
        }
        System.out.println(costs + name(Level.valueOf("HIGH")) + Level.LOW.uses);
    }
}
