import java.io.FileInputStream;
import org.apache.uima.UIMAFramework;
import org.apache.uima.cas.CAS;
import org.apache.uima.cas.FSIterator;
import org.apache.uima.cas.Feature;
import org.apache.uima.cas.FeatureStructure;
import org.apache.uima.cas.Type;
import org.apache.uima.cas.impl.XmiCasDeserializer;
import org.apache.uima.cas.text.AnnotationFS;
import org.apache.uima.resource.metadata.TypeSystemDescription;
import org.apache.uima.util.CasCreationUtils;
import org.apache.uima.util.XMLInputSource;

/** Reads XMI with Apache UIMA itself: prints the chains of a layer, and how many of its links are indexed. */
public class UimaReader {
    public static void main(String[] args) throws Exception {
        TypeSystemDescription types =
            UIMAFramework.getXMLParser().parseTypeSystemDescription(new XMLInputSource(args[0]));
        CAS cas = CasCreationUtils.createCas(types, null, null);
        XmiCasDeserializer.deserialize(new FileInputStream(args[1]), cas, false);
        Type chain = cas.getTypeSystem().getType(args[2] + "Chain");
        Type link = cas.getTypeSystem().getType(args[2] + "Link");
        Feature first = chain.getFeatureByBaseName("first");
        Feature next = link.getFeatureByBaseName("next");
        FSIterator<FeatureStructure> heads = cas.getIndexRepository().getAllIndexedFS(chain);
        while (heads.hasNext()) {
            StringBuilder line = new StringBuilder("chain");
            FeatureStructure one = heads.next().getFeatureValue(first);
            while (one != null) {
                AnnotationFS mention = (AnnotationFS) one;
                line.append(" " + mention.getBegin() + "-" + mention.getEnd());
                one = one.getFeatureValue(next);
            }
            System.out.println(line);
        }
        System.out.println("indexed " + cas.getAnnotationIndex(link).size());
    }
}
