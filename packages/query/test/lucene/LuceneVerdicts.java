import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.apache.lucene.analysis.Analyzer;
import org.apache.lucene.analysis.TokenStream;
import org.apache.lucene.analysis.core.KeywordAnalyzer;
import org.apache.lucene.analysis.miscellaneous.PerFieldAnalyzerWrapper;
import org.apache.lucene.analysis.standard.StandardAnalyzer;
import org.apache.lucene.analysis.tokenattributes.CharTermAttribute;
import org.apache.lucene.analysis.tokenattributes.OffsetAttribute;
import org.apache.lucene.analysis.util.CharArraySet;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.StringField;
import org.apache.lucene.document.TextField;
import org.apache.lucene.index.AtomicReaderContext;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.queryparser.classic.ParseException;
import org.apache.lucene.queryparser.classic.QueryParser;
import org.apache.lucene.search.Collector;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.Scorer;
import org.apache.lucene.store.RAMDirectory;
import org.apache.lucene.util.Version;

/**
 * What Lucene itself says. Reads JSON lines from standard input:
 * {"document": {field: [values]}} adds a page, {"query": text} asks which pages match and
 * answers with one 0 or 1 per page or with "error ...", {"text": text} answers with its tokens.
 */
public final class LuceneVerdicts {
  private static final Set<String> TEXT = Set.of("added", "removed", "added_anchor", "removed_anchor", "title");

  private static String fold(String field, String value) {
    return value != null && TEXT.contains(field) ? value.toLowerCase(Locale.ROOT) : value;
  }

  private static QueryParser parser(Analyzer analyzer) {
    QueryParser parser = new QueryParser("added", analyzer) {
      @Override
      protected Query getWildcardQuery(String field, String text) throws ParseException {
        return super.getWildcardQuery(field, fold(field, text));
      }

      @Override
      protected Query getPrefixQuery(String field, String text) throws ParseException {
        return super.getPrefixQuery(field, fold(field, text));
      }

      @Override
      protected Query getFuzzyQuery(String field, String text, float similarity) throws ParseException {
        return super.getFuzzyQuery(field, fold(field, text), similarity);
      }

      @Override
      protected Query getRangeQuery(String field, String low, String high, boolean withLow, boolean withHigh)
          throws ParseException {
        return super.getRangeQuery(field, fold(field, low), fold(field, high), withLow, withHigh);
      }
    };
    parser.setAllowLeadingWildcard(true);
    parser.setLowercaseExpandedTerms(false);
    return parser;
  }

  private static Analyzer analyzer() {
    Map<String, Analyzer> perField = new HashMap<>();
    for (String field : TEXT) perField.put(field, new StandardAnalyzer());
    perField.put("title", new StandardAnalyzer(CharArraySet.EMPTY_SET));
    return new PerFieldAnalyzerWrapper(new KeywordAnalyzer(), perField);
  }

  private static final class Hits extends Collector {
    final BitSet bits = new BitSet();
    private int base;

    @Override
    public void setScorer(Scorer scorer) {}

    @Override
    public void collect(int document) {
      bits.set(base + document);
    }

    @Override
    public void setNextReader(AtomicReaderContext context) {
      base = context.docBase;
    }

    @Override
    public boolean acceptsDocsOutOfOrder() {
      return true;
    }
  }

  private static String verdicts(QueryParser parser, IndexSearcher searcher, int documents, String text) {
    try {
      Hits hits = new Hits();
      searcher.search(parser.parse(text), hits);
      StringBuilder line = new StringBuilder();
      for (int at = 0; at < documents; at++) line.append(hits.bits.get(at) ? '1' : '0');
      return line.toString();
    } catch (Exception problem) {
      return "error " + String.valueOf(problem.getMessage()).replaceAll("\\s+", " ");
    }
  }

  private static String tokens(Analyzer analyzer, String text) throws Exception {
    StringBuilder line = new StringBuilder("[");
    try (TokenStream stream = analyzer.tokenStream("title", text)) {
      CharTermAttribute term = stream.addAttribute(CharTermAttribute.class);
      OffsetAttribute offset = stream.addAttribute(OffsetAttribute.class);
      stream.reset();
      while (stream.incrementToken()) {
        if (line.length() > 1) line.append(',');
        line.append('[').append(offset.startOffset()).append(',').append(offset.endOffset()).append(",\"");
        for (char unit : term.toString().toCharArray()) line.append(String.format("\\u%04x", (int) unit));
        line.append("\"]");
      }
      stream.end();
    }
    return line.append(']').toString();
  }

  private static Document document(Map<?, ?> fields) {
    Document document = new Document();
    for (Map.Entry<?, ?> entry : fields.entrySet()) {
      String name = (String) entry.whoAmI();
      for (Object value : (List<?>) entry.getValue()) {
        document.add(
            TEXT.contains(name)
                ? new TextField(name, (String) value, Field.Store.NO)
                : new StringField(name, (String) value, Field.Store.NO));
      }
    }
    return document;
  }

  public static void main(String[] arguments) throws Exception {
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
    Analyzer analyzer = analyzer();
    RAMDirectory directory = new RAMDirectory();
    IndexWriter writer = new IndexWriter(directory, new IndexWriterConfig(Version.LATEST, analyzer));
    IndexSearcher searcher = null;
    int documents = 0;
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      Map<?, ?> message = (Map<?, ?>) new Json(line).value();
      if (message.get("document") instanceof Map<?, ?> fields) {
        writer.addDocument(document(fields));
        documents++;
      } else if (message.get("text") instanceof String text) {
        out.println(tokens(analyzer, text));
      } else {
        if (searcher == null) {
          writer.close();
          searcher = new IndexSearcher(DirectoryReader.open(directory));
        }
        out.println(verdicts(parser(analyzer), searcher, documents, (String) message.get("query")));
      }
    }
    out.flush();
  }

  /** Objects, arrays and strings are all that the input holds. */
  private static final class Json {
    private final String text;
    private int at;

    Json(String text) {
      this.text = text;
    }

    Object value() {
      char first = text.charAt(at++);
      if (first == '"') return string();
      if (first == '[') return list();
      Map<String, Object> map = new HashMap<>();
      while (text.charAt(at) != '}') {
        if (text.charAt(at) == ',') at++;
        at++;
        String key = string();
        at++;
        map.put(key, value());
      }
      at++;
      return map;
    }

    private List<Object> list() {
      List<Object> list = new ArrayList<>();
      while (text.charAt(at) != ']') {
        if (text.charAt(at) == ',') at++;
        list.add(value());
      }
      at++;
      return list;
    }

    private String string() {
      StringBuilder value = new StringBuilder();
      for (char unit = text.charAt(at++); unit != '"'; unit = text.charAt(at++)) {
        if (unit != '\\') {
          value.append(unit);
          continue;
        }
        char escaped = text.charAt(at++);
        if (escaped == 'u') {
          value.append((char) Integer.parseInt(text.substring(at, at + 4), 16));
          at += 4;
        } else {
          int plain = "bfnrt".indexOf(escaped);
          value.append(plain < 0 ? escaped : "\b\f\n\r\t".charAt(plain));
        }
      }
      return value.toString();
    }
  }
}
