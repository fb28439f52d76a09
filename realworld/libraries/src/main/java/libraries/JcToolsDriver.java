package libraries;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jctools.queues.MpscArrayQueue;

/**
 * A mailbox over a lock-free queue, whose reader sleeps while there is nothing to read. The bug: the reader looks at the queue and then goes to
 * sleep without looking again, so that the signal of a letter that comes in between is lost.
 */
public final class JcToolsDriver {
    private static final int WRITERS = 1;
    private static final int LETTERS = 200;

    record Letter(int number, CompletableFuture<Integer> answer) {
    }

    static class Mailbox {
        final MpscArrayQueue<Letter> letters = new MpscArrayQueue<>(1024);
        private boolean asleep;

        void send(Letter letter) {
            letters.offer(letter);
            synchronized (this) {
                if (asleep) {
                    notifyAll();
                }
            }
        }

        Letter receive() throws InterruptedException {
            Letter letter = letters.poll();
            while (letter == null) {
                sleep();
                letter = letters.poll();
            }
            return letter;
        }

        synchronized void sleep() throws InterruptedException {
            asleep = true;
            wait();
            asleep = false;
        }
    }

    /** Corrected: the reader looks again before it sleeps, with the lock. */
    static final class CarefulMailbox extends Mailbox {
        @Override
        synchronized void sleep() throws InterruptedException {
            if (letters.isEmpty()) {
                super.sleep();
            }
        }
    }

    public static void main(String[] args) throws Exception {
        Mailbox mailbox = args.length > 0 && args[0].equals("fixed") ? new CarefulMailbox() : new Mailbox();
        Thread reader = new Thread(() -> read(mailbox), "reader");
        reader.setDaemon(true);
        reader.start();
        List<Thread> writers = new ArrayList<>();
        for (int i = 0; i < WRITERS; i++) {
            Thread writer = new Thread(() -> write(mailbox), "writer-" + i);
            writers.add(writer);
            writer.start();
        }
        for (Thread writer : writers) {
            writer.join();
        }
        System.out.println("all letters answered");
    }

    private static void read(Mailbox mailbox) {
        try {
            while (true) {
                Letter letter = mailbox.receive();
                letter.answer().complete(letter.number() * 2);
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private static void write(Mailbox mailbox) {
        Random random = new Random();
        try {
            for (int i = 0; i < LETTERS; i++) {
                Letter letter = new Letter(i, new CompletableFuture<>());
                mailbox.send(letter);
                if (letter.answer().get(3, TimeUnit.SECONDS) != 2 * i) {
                    throw new IllegalStateException("wrong answer");
                }
                Thread.sleep(random.nextInt(4));
            }
        } catch (Exception failed) {
            System.out.println("no answer: " + failed);
            System.exit(1);
        }
    }
}
