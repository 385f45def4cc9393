package main

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"
)

type claims struct {
	Iss, Aud, Sub, Tenant string
	Exp                   int64
}

var (
	issuer    = os.Getenv("GATEHOUSE_URL") // BASE_URL of Gatehouse
	client    = http.Client{Timeout: 5 * time.Second}
	decode    = base64.RawURLEncoding.Strict().DecodeString
	lock      sync.Mutex
	keys      map[string]ed25519.PublicKey
	fetchedAt time.Time
)

// A known key is believed for five minutes; for others the keys are fetched again, once a second.
func findKey(kid string) ed25519.PublicKey {
	lock.Lock()
	defer lock.Unlock()
	age := time.Since(fetchedAt)
	if age < time.Second || keys[kid] != nil && age < 5*time.Minute {
		return keys[kid]
	}
	var set struct {
		Keys []struct{ Kid, Crv, X string }
	}
	response, err := client.Get(issuer + "/.well-known/jwks.json")
	if err != nil {
		return nil
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK || json.NewDecoder(response.Body).Decode(&set) != nil {
		return nil
	}
	keys, fetchedAt = map[string]ed25519.PublicKey{}, time.Now()
	for _, key := range set.Keys {
		if x, _ := decode(key.X); key.Crv == "Ed25519" && len(x) == ed25519.PublicKeySize {
			keys[key.Kid] = x
		}
	}
	return keys[kid]
}

// verify returns the claims of a valid identity token; nil for anything else.
func verify(token, audience string) *claims {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return nil
	}
	var header struct{ Alg, Kid string }
	var found claims
	head, _ := decode(parts[0])
	body, _ := decode(parts[1])
	signature, _ := decode(parts[2])
	if json.Unmarshal(head, &header) != nil || header.Alg != "EdDSA" {
		return nil
	}
	key := findKey(header.Kid)
	if key == nil || !ed25519.Verify(key, []byte(parts[0]+"."+parts[1]), signature) {
		return nil
	}
	isOurs := json.Unmarshal(body, &found) == nil && found.Iss == issuer && found.Aud == audience
	if !isOurs || time.Now().Unix() >= found.Exp+5 { // seconds between the clocks
		return nil
	}
	return &found
}

func main() {
	audience, address := os.Getenv("IDENTITY_AUDIENCE"), os.Getenv("ADDRESS") // 127.0.0.1:8000
	http.HandleFunc("/", func(response http.ResponseWriter, request *http.Request) {
		if found := verify(request.Header.Get("gatehouse-identity"), audience); found != nil {
			fmt.Fprintf(response, "%s of %s\n", found.Sub, found.Tenant)
			return
		}
		http.Error(response, "who are you?", http.StatusUnauthorized)
	})
	log.Fatal(http.ListenAndServe(address, nil))
}
