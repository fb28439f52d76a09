package realworld;

import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.lucene.analysis.Analyzer;
import org.apache.lucene.analysis.standard.StandardAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.StringField;
import org.apache.lucene.document.TextField;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.BooleanClause;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.SearcherManager;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.store.ByteBuffersDirectory;
import org.apache.lucene.store.Directory;

/** Lucene in memory: three threads add, update and delete documents while two others search. */
public final class LuceneDriver {
    private static final int WRITERS = 3;
    private static final int SEARCHERS = 2;
    private static final int DOCUMENTS = 3000;
    private static final String[] WORDS = {
        "river", "stone", "cloud", "paper", "green", "quiet", "seven", "north", "amber", "frost", "light", "grain",
    };

    private LuceneDriver() {
    }

    public static void main(String[] args) throws Exception {
        try (Directory directory = new ByteBuffersDirectory(); Analyzer analyzer = new StandardAnalyzer()) {
            IndexWriterConfig config = new IndexWriterConfig(analyzer).setRAMBufferSizeMB(1);
            try (IndexWriter writer = new IndexWriter(directory, config);
                    SearcherManager searchers = new SearcherManager(writer, null)) {
                AtomicLong searches = new AtomicLong();
                Workers.run("lucene", WRITERS + SEARCHERS, worker -> {
                    if (worker < WRITERS) {
                        write(writer, worker);
                    } else {
                        search(searchers, worker, searches);
                    }
                });
                writer.commit();
                searchers.maybeRefreshBlocking();
                System.out.println("lucene: " + summary(searchers) + ", searches " + searches.get());
            }
        }
    }

    private static Document document(int worker, int number, Random random) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < 30; i++) {
            text.append(WORDS[random.nextInt(WORDS.length)]).append(' ');
        }
        Document document = new Document();
        document.add(new StringField("id", worker + "-" + number, Field.Store.YES));
        document.add(new StringField("worker", "w" + worker, Field.Store.NO));
        document.add(new TextField("text", text.toString(), Field.Store.NO));
        return document;
    }

    private static void write(IndexWriter writer, int worker) throws Exception {
        Random random = new Random(worker);
        for (int i = 0; i < DOCUMENTS; i++) {
            writer.addDocument(document(worker, i, random));
            if (i % 10 == 9) {
                int old = random.nextInt(i + 1);
                writer.updateDocument(new Term("id", worker + "-" + old), document(worker, old, random));
            }
            if (i % 40 == 39) {
                writer.deleteDocuments(new Term("id", worker + "-" + i));
            }
            if (i % 1000 == 999) {
                writer.commit();
            }
        }
    }

    private static void search(SearcherManager searchers, int worker, AtomicLong searches) throws Exception {
        Random random = new Random(worker);
        for (int i = 0; i < 400; i++) {
            if (i % 20 == 0) {
                searchers.maybeRefresh();
            }
            IndexSearcher searcher = searchers.acquire();
            try {
                Query query = new BooleanQuery.Builder()
                        .add(new TermQuery(new Term("text", WORDS[random.nextInt(WORDS.length)])), BooleanClause.Occur.MUST)
                        .add(new TermQuery(new Term("worker", "w" + random.nextInt(WRITERS))), BooleanClause.Occur.MUST)
                        .build();
                searcher.search(query, 10);
                searches.incrementAndGet();
            } finally {
                searchers.release(searcher);
            }
        }
    }

    private static String summary(SearcherManager searchers) throws Exception {
        IndexSearcher searcher = searchers.acquire();
        try {
            StringBuilder result = new StringBuilder("documents " + searcher.getIndexReader().numDocs());
            for (int worker = 0; worker < WRITERS; worker++) {
                result.append(", w").append(worker).append(' ').append(searcher.count(new TermQuery(
                        new Term("worker", "w" + worker))));
            }
            return result.append(", river ").append(searcher.count(new TermQuery(new Term("text", "river")))).toString();
        } finally {
            searchers.release(searcher);
        }
    }
}
