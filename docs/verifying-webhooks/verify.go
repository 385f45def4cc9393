package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"log"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"
)

const toleranceSeconds = 300

var decimal = regexp.MustCompile(`\A[0-9]{1,12}\z`)

// Verify reports whether a delivery is authentic and recent. The secret is the endpoint's secret as
// shown: whsec_…; timestamp and signature are the headers webhook-timestamp and webhook-signature,
// empty if missing; body is the raw bytes, before any parsing; now is in Unix seconds.
func Verify(secret, timestamp, signature string, body []byte, now int64) bool {
	if secret == "" || !decimal.MatchString(timestamp) {
		return false
	}
	at, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || now-at > toleranceSeconds || at-now > toleranceSeconds {
		return false
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(timestamp + "."))
	mac.Write(body)
	expected := []byte("v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	for _, one := range strings.Split(signature, " ") {
		if hmac.Equal([]byte(one), expected) { // in constant time
			return true
		}
	}
	return false
}

// WEBHOOK_SECRET=whsec_… go run verify.go TIMESTAMP SIGNATURE [NOW] < body
func main() {
	arguments := append(os.Args[1:], "", "", "")
	body, err := io.ReadAll(os.Stdin)
	if err != nil {
		log.Fatal(err)
	}
	now := time.Now().Unix()
	if arguments[2] != "" {
		if now, err = strconv.ParseInt(arguments[2], 10, 64); err != nil {
			log.Fatal(err)
		}
	}
	if !Verify(os.Getenv("WEBHOOK_SECRET"), arguments[0], arguments[1], body, now) {
		fmt.Println("bad")
		os.Exit(1)
	}
	fmt.Println("good")
}
