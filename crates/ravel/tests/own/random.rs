//! Random small programs with threads: objects that are shared, handed over or kept, fields with and without locks, arrays,
//! collections, work before and after the threads start. They end, and take one lock at a time.

use std::fmt::Write as _;

use fastrand::Rng;

/// The text of a program with this name.
pub fn program(name: &str, seed: u64) -> String {
    let mut random = Rng::with_seed(seed);
    let mut text = format!(
        "import java.util.*;\npublic class {name} {{\n\
         static int total, settled; static int[] table = new int[4]; static final int[] FIXED = {{3, 1, 2}};\n\
         static class Scratch {{ int used; final List<Integer> list = new ArrayList<>(); int[] own = new int[2]; }}\n\
         static class Node {{\n  int a, b; final int first; Node next; int[] data = new int[4];\n\
           final Object lock = new Object(); final List<Integer> held = new ArrayList<>();\n\
           Node(int first) {{ this.first = first; a = first; }}\n"
    );
    let methods = 3 + random.u64(..4);
    for method in 0..methods {
        let synchronized = if random.bool() { "synchronized " } else { "" };
        let block = random.u64(..3) == 0 && synchronized.is_empty();
        let _ = writeln!(text, "  {synchronized}int m{method}(Scratch s, int n) {{ int r = n;");
        if block {
            text.push_str("  synchronized (lock) {\n");
        }
        for _ in 0..1 + random.u64(..5) {
            statement(&mut random, &mut text);
        }
        if block {
            text.push_str("  }\n");
            if random.bool() {
                statement(&mut random, &mut text);
            }
        }
        text.push_str("  return r; }\n");
    }
    text.push_str("}\n");
    let _ = writeln!(
        text,
        "static class Worker extends Thread {{ final Node mine, ours; Node late;"
    );
    text.push_str("  Worker(Node mine, Node ours) { this.mine = mine; this.ours = ours; }\n  public void run() {\n");
    text.push_str(
        "    Scratch s = new Scratch(); Node own = new Node(7); int r = 0;\n    for (int i = 0; i < 3; i++) {\n",
    );
    for _ in 0..2 + random.u64(..4) {
        let target = pick(&mut random, &["mine", "ours", "ours", "own"]);
        let _ = writeln!(text, "      r += {target}.m{}(s, i);", random.u64(..methods));
    }
    text.push_str("    }\n");
    if random.bool() {
        text.push_str("    synchronized (Worker.class) { total += r; }\n");
    } else {
        text.push_str("    total += r;\n");
    }
    text.push_str("  }\n}\n");
    text.push_str("public static void main(String[] args) throws Exception {\n");
    text.push_str("  Node ours = new Node(1), x = new Node(2), y = new Node(3); Scratch s = new Scratch();\n");
    for _ in 0..random.u64(..4) {
        main_statement(&mut random, &mut text);
    }
    let same = random.u64(..3) == 0;
    let _ = writeln!(
        text,
        "  Worker p = new Worker(x, ours), q = new Worker({}, ours);\n  p.start(); q.start();",
        if same { "x" } else { "y" }
    );
    for _ in 0..random.u64(..3) {
        main_statement(&mut random, &mut text);
    }
    text.push_str("  p.join(); q.join();\n  System.out.println(ours.first + table.length);\n}\n}\n");
    text
}

fn pick<'a>(random: &mut Rng, of: &[&'a str]) -> &'a str {
    of[random.usize(..of.len())]
}

fn statement(random: &mut Rng, text: &mut String) {
    text.push_str(pick(
        random,
        &[
            "    a = b + n;\n",
            "    b++;\n",
            "    r += a;\n",
            "    r += first + FIXED[n % 3];\n",
            "    data[n & 3] += 1;\n",
            "    r += data[(n + 1) & 3];\n",
            "    s.used++; r += s.used;\n",
            "    s.own[n & 1] = r;\n",
            "    s.list.add(n); r += s.list.size();\n",
            "    held.add(n); r += held.size();\n",
            "    if (next != null) r += next.a;\n",
            "    next = new Node(n);\n",
            "    Node fresh = new Node(n); fresh.b = r; r += fresh.b;\n",
            "    total++;\n",
            "    r += settled + table[n & 3];\n",
            "    int[] copy = new int[3]; copy[1] = n; r += copy[1];\n",
        ],
    ));
    // Names that are declared in a statement stay inside it.
    if let Some(at) = text.rfind("    Node fresh").max(text.rfind("    int[] copy"))
        && text[at..].matches('\n').count() == 1
    {
        let line = text.split_off(at);
        let _ = writeln!(text, "    {{ {} }}", line.trim());
    }
}

fn main_statement(random: &mut Rng, text: &mut String) {
    text.push_str(pick(
        random,
        &[
            "  settled = 5;\n",
            "  table[1] = 4;\n",
            "  ours.next = x;\n",
            "  x.b = 9;\n",
            "  y.data[2] = 1;\n",
            "  ours.held.add(1);\n",
            "  s.used++;\n",
            "  ours.m0(s, 1);\n",
        ],
    ));
}
