/* expect:
 *   thread main, hook
 *   fork hook == 1 by DestroyJavaVM
 *   join main == 1 by DestroyJavaVM
 *   read ShutdownHooks.count == 1 by hook
 * about: A thread that the JVM starts when it ends comes after everything that the threads it waited for have done.
 */
public class ShutdownHooks {
    static int count;

    public static void main(String[] args) {
        Runtime.getRuntime().addShutdownHook(new Thread(() -> System.out.println("count " + count), "hook"));
        count++;
    }
}
