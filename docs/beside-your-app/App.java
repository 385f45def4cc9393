import com.google.gson.JsonObject; // Debian: libgoogle-gson-java
import com.google.gson.JsonParser;
import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.security.KeyFactory;
import java.security.PublicKey;
import java.security.Signature;
import java.security.spec.X509EncodedKeySpec;
import java.time.Duration;
import java.util.Base64;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.concurrent.Executors;

public class App {
    static final String ISSUER = System.getenv("GATEHOUSE_URL"); // BASE_URL of Gatehouse
    static final String AUDIENCE = System.getenv("IDENTITY_AUDIENCE");
    static final long KEYS_SECONDS = 300; // then a key that was withdrawn is no longer believed
    static final long AGAIN_SECONDS = 1; // for a key that is not known
    static final long LEEWAY_SECONDS = 5; // between the clocks
    /** Before the bytes of a public key (RFC 8410). */
    static final String ED25519 = "302a300506032b6570032100";
    static final HttpClient client = HttpClient.newHttpClient();

    static Map<String, PublicKey> keys = Map.of();
    static long fetchedAt = secondsNow() - KEYS_SECONDS, triedAt = fetchedAt;

    static long secondsNow() {
        return System.nanoTime() / 1_000_000_000;
    }

    static synchronized PublicKey findKey(String kid) throws Exception {
        long now = secondsNow();
        boolean isStale = now - fetchedAt >= KEYS_SECONDS;
        if ((isStale || !keys.containsKey(kid)) && now - triedAt > AGAIN_SECONDS) {
            triedAt = now;
            keys = fetchKeys();
            fetchedAt = now;
            isStale = false;
        }
        return isStale ? null : keys.get(kid);
    }

    static Map<String, PublicKey> fetchKeys() throws Exception {
        var request = HttpRequest.newBuilder(URI.create(ISSUER + "/.well-known/jwks.json"))
                .timeout(Duration.ofSeconds(5)).build();
        String text = client.send(request, BodyHandlers.ofString()).body();
        var found = new HashMap<String, PublicKey>();
        for (var element : parse(text).getAsJsonArray("keys")) {
            JsonObject key = element.getAsJsonObject();
            if (!textOf(key, "crv").equals("Ed25519")) continue;
            String hex = ED25519 + HexFormat.of().formatHex(decode(textOf(key, "x")));
            var spec = new X509EncodedKeySpec(HexFormat.of().parseHex(hex));
            found.put(textOf(key, "kid"), KeyFactory.getInstance("Ed25519").generatePublic(spec));
        }
        return found;
    }

    /** The claims of a valid identity token; null for anything else. */
    static JsonObject verify(String token) {
        if (token == null || !token.matches("[\\w-]+\\.[\\w-]+\\.[\\w-]+")) return null;
        String[] parts = token.split("\\.");
        try {
            JsonObject header = parse(new String(decode(parts[0])));
            if (!textOf(header, "alg").equals("EdDSA")) return null;
            PublicKey key = findKey(textOf(header, "kid"));
            if (key == null) return null;
            var signature = Signature.getInstance("Ed25519");
            signature.initVerify(key);
            signature.update((parts[0] + "." + parts[1]).getBytes());
            if (!signature.verify(decode(parts[2]))) return null;
            JsonObject claims = parse(new String(decode(parts[1])));
            boolean isOurs = textOf(claims, "iss").equals(ISSUER)
                    && claims.get("aud").isJsonPrimitive() && textOf(claims, "aud").equals(AUDIENCE);
            long expires = claims.get("exp").getAsLong() + LEEWAY_SECONDS;
            return isOurs && System.currentTimeMillis() / 1_000 < expires ? claims : null;
        } catch (Exception | StackOverflowError invalid) {
            return null;
        }
    }

    static JsonObject parse(String text) {
        return JsonParser.parseString(text).getAsJsonObject();
    }

    static String textOf(JsonObject object, String name) {
        return object.get(name).getAsString();
    }

    static byte[] decode(String part) {
        return Base64.getUrlDecoder().decode(part);
    }

    public static void main(String[] args) throws Exception {
        var address = new InetSocketAddress("127.0.0.1", Integer.parseInt(System.getenv("PORT")));
        HttpServer server = HttpServer.create(address, 0);
        server.setExecutor(Executors.newFixedThreadPool(8));
        server.createContext("/", exchange -> {
            JsonObject claims = verify(exchange.getRequestHeaders().getFirst("gatehouse-identity"));
            String text = claims == null
                    ? "who are you?\n"
                    : textOf(claims, "sub") + " of " + textOf(claims, "tenant") + "\n";
            exchange.sendResponseHeaders(claims == null ? 401 : 200, text.length());
            try (var body = exchange.getResponseBody()) {
                body.write(text.getBytes());
            }
        });
        server.start();
    }
}
