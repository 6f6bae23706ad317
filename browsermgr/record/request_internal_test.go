package record

import (
	"encoding/json"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"

	"clank/internal/test/check"
)

// pictureEvents returns the events of one request for a picture, as Chromium 131 sends them for a shop behind a CDN.
func pictureEvents(n int) []struct{ method, params string } {
	const agent = `"User-Agent":"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 ` +
		`Safari/537.36","sec-ch-ua":"\"Chromium\";v=\"131\", \"Not_A Brand\";v=\"24\"","sec-ch-ua-mobile":"?0",` +
		`"sec-ch-ua-platform":"\"Linux\"","Referer":"https://www.shop.example/"`
	url := fmt.Sprintf("https://static.shop.example/assets/images/products/%06d/large.webp?w=640&q=75", n)
	received := fmt.Sprintf(`"date":"Sat, 28 Nov 2026 20:%02d:%02d GMT","content-type":"image/webp","content-length":"%d",`+
		`"server":"cloudflare","cache-control":"public, max-age=31536000, immutable","etag":"\"5f8e2a0c9b-%d\"",`+
		`"last-modified":"Wed, 01 Jan 2025 00:00:00 GMT","vary":"Accept","x-content-type-options":"nosniff",`+
		`"strict-transport-security":"max-age=31536000; includeSubDomains","cf-cache-status":"HIT","age":"%d",`+
		`"accept-ranges":"bytes","cf-ray":"%016x-FRA","access-control-allow-origin":"*"`, n/60%60, n%60, 9999+n, n, n*7, n*7919)
	return []struct{ method, params string }{
		{"requestWillBeSent", fmt.Sprintf(`"request":{"url":%q,"method":"GET","headers":{%s}},"timestamp":1000.5,`+
			`"wallTime":1700000000.5,"type":"Image","frameId":"AA11BB22CC33DD44"`, url, agent)},
		{"requestWillBeSentExtraInfo", `"headers":{"Host":"static.shop.example","Connection":"keep-alive",` + agent +
			`,"Accept":"image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8","Sec-Fetch-Site":"same-site",` +
			`"Sec-Fetch-Mode":"no-cors","Sec-Fetch-Dest":"image","Accept-Encoding":"gzip, deflate, br, zstd"}`},
		{"responseReceivedExtraInfo", `"headers":{` + received + `}`},
		{"responseReceived", fmt.Sprintf(`"timestamp":1001.5,"type":"Image","hasExtraInfo":true,"response":{"url":%q,`+
			`"status":200,"statusText":"OK","headers":{%s},"mimeType":"image/webp","protocol":"h2","remoteIPAddress":`+
			`"203.0.113.7","encodedDataLength":321,"timing":{"requestTime":1000.6,"dnsEnd":2,"receiveHeadersEnd":30.2}}`,
			url, received)},
		{"loadingFinished", `"timestamp":1002,"encodedDataLength":20480`},
	}
}

func TestARequestTakesNoMoreMemoryThanIsCounted(t *testing.T) {
	heap := func() int {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	before, counted := heap(), 0
	logs := make([]requestLog, 2)
	for i := range logs {
		logs[i] = newRequestLog(new(atomic.Int64))
		for n := range MaxRequests {
			for _, e := range pictureEvents(n) {
				var p networkEvent
				check.Must(t, json.Unmarshal(fmt.Appendf(nil, `{"requestId":"1234.%d",%s}`, n, e.params), &p))
				networkEvents["Network."+e.method](&logs[i], &p)
			}
		}
		counted += logs[i].ring.used
	}
	if took := heap() - before; took > counted {
		t.Errorf("%d bytes a request, of which %d are counted", took/(2*MaxRequests), counted/(2*MaxRequests))
	}
	r := logs[1].ring.items[7].request()
	if r.RequestHeaders["sec-fetch-dest"] != "image" || r.ResponseHeaders["content-length"] != "10006" {
		t.Errorf("got %+v", r)
	}
}
