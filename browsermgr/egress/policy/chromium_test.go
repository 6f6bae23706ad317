package policy_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"clank/browsermgr/chrome"
	"clank/browsermgr/egress/policy"
	"clank/browsermgr/page"
	"clank/browsermgr/page/action/actiontable"
	"clank/internal/test/check"
)

// reading is the result of Chromium's URL parser.
type reading struct{ Protocol, Hostname, Port string }

func TestNothingIsAllowedThatChromiumSendsElsewhere(t *testing.T) {
	urls := generated(4000)
	for _, s := range spellings {
		urls = append(urls, s.url)
	}
	p := compile(t, policy.Rules{})
	allowed, refused, closed := 0, 0, 0
	for i, r := range chromiumReads(t, urls) {
		target, err := p.CheckURL(urls[i])
		refusal, _ := errors.AsType[*policy.Refusal](err)
		host, rule := target.Host, ""
		if refusal != nil {
			host, rule = refusal.Host, refusal.Rule
		}
		switch {
		case r == nil: // Chromium goes nowhere
		case rule == policy.RuleMalformed:
			closed++
		case host != plain(r.Hostname):
			t.Errorf("%q: got host %q, Chromium goes to %q", urls[i], host, r.Hostname)
		case err == nil && strconv.Itoa(int(target.Port)) != portOf(*r):
			t.Errorf("%q: got port %d, Chromium goes to %q", urls[i], target.Port, portOf(*r))
		case err == nil:
			allowed++
			if addr, parseErr := netip.ParseAddr(plain(r.Hostname)); parseErr == nil && notPublic(addr) {
				t.Errorf("%q: allowed, and Chromium goes to %s", urls[i], addr)
			}
		default:
			refused++
		}
	}
	t.Logf("%d addresses: %d allowed, %d refused, %d refused that Chromium reads and the policy does not", len(urls),
		allowed, refused, closed)
	if allowed < 300 || refused < 1000 || closed > len(urls)/20 {
		t.Errorf("the addresses prove little")
	}
}

// plain returns a host name of Chromium's in the form of the policy.
func plain(hostname string) string {
	hostname = strings.TrimSuffix(hostname, ".")
	if addr, err := netip.ParseAddr(strings.Trim(hostname, "[]")); err == nil {
		return addr.String()
	}
	return hostname
}

func portOf(r reading) string {
	if r.Port != "" {
		return r.Port
	}
	return map[string]string{"http:": "80", "https:": "443", "ws:": "80", "wss:": "443"}[r.Protocol]
}

// notPublic knows some non-public addresses without using a registry.
func notPublic(addr netip.Addr) bool {
	addr = addr.Unmap()
	return !addr.IsGlobalUnicast() || addr.IsPrivate() || addr.IsLoopback() || addr.IsLinkLocalUnicast() ||
		netip.MustParsePrefix("100.64.0.0/10").Contains(addr) || netip.MustParsePrefix("2002::/16").Contains(addr)
}

// chromiumReads parses addresses in one Chromium; nil is for those that it rejects.
func chromiumReads(t *testing.T, urls []string) []*reading {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	exe, err := chrome.Find(ctx, os.Getenv("CLANK_CHROMIUM"))
	if err != nil {
		t.Fatal("this test needs Chromium:", err)
	}
	process, err := chrome.Launch(ctx, chrome.LaunchOptions{
		Executable: exe.Path, Headless: true, NoSandbox: true,
		Timeout: 45 * time.Second,
	})
	check.Must(t, err)
	t.Cleanup(func() { _ = process.Stop(context.Background()) })
	browser, err := page.Connect(ctx, process.WebSocketURL, page.Options{})
	check.Must(t, err)
	t.Cleanup(func() { _ = browser.Close() })
	tab, err := browser.NewTab(ctx, page.TabOptions{URL: "about:blank"})
	check.Must(t, err)
	var all []*reading
	for some := range slices.Chunk(urls, 500) {
		list, err := json.Marshal(some)
		check.Must(t, err)
		res, err := tab.Act(ctx, page.Action{Kind: actiontable.KindEvaluate, Fn: fmt.Sprintf(`() => %s.map(s => {
			try { const {protocol, hostname, port} = new URL(s); return {protocol, hostname, port}; } catch { return null; } })`, list)})
		check.Must(t, err)
		var part []*reading
		if err := json.Unmarshal(res.Value, &part); err != nil || len(part) != len(some) {
			t.Fatalf("got %d readings of %d addresses, %v", len(part), len(some), err)
		}
		all = append(all, part...)
	}
	return all
}

// generated returns addresses made by spelling public and refused hosts in odd ways, the same at each call.
func generated(n int) []string {
	g := speller{rand.New(rand.NewPCG(7, 11))}
	urls := make([]string, n)
	for i := range urls {
		urls[i] = g.url()
	}
	return urls
}

type speller struct{ *rand.Rand }

func (g speller) one(of ...string) string { return of[g.IntN(len(of))] }

// mostly returns usual three times out of four.
func (g speller) mostly(usual string, of ...string) string {
	if g.IntN(4) > 0 {
		return usual
	}
	return g.one(of...)
}

func (g speller) url() string {
	scheme := g.mostly("http", "https", "HTTP", "ws", "wss", "ht\ttp", " http", "hTTps")
	slashes := g.mostly("//", "", "/", "///", `\\`, `/\`, "/\t/")
	user := g.mostly("", "a@", "8.8.8.8@", "8.8.8.8:80@", "@", "a:b@c@", `x\@`, "%40@", "[::1]@")
	port := g.mostly("", ":80", ":443", ":8080", ":0", ":65535", ":65536", ":", ":1a", ":0080", ":-1", ":%38")
	rest := g.mostly("/", "", "?", "#", "?@10.0.0.1", "#@10.0.0.1", `\@10.0.0.1`, "/@10.0.0.1", ";@8.8.8.8")
	return scheme + ":" + slashes + user + g.host() + port + rest
}

func (g speller) host() string {
	switch g.IntN(8) {
	case 0:
		return g.disguised(g.one("localhost", "a.localhost", "metadata.google.internal", "x.local", "example.com",
			"xn--fa-hia.de", "faß.de", "a_b.example", "x--y.com", "foo.0x1", "1.2.3.4.5", "example.com."))
	case 1, 2:
		return g.ipv6()
	}
	return g.disguised(g.ipv4())
}

func (g speller) address() [4]byte {
	known := [][4]byte{
		{127, 0, 0, 1},
		{10, 0, 0, 1},
		{169, 254, 169, 254},
		{192, 168, 1, 1},
		{172, 16, 5, 4},
		{100, 64, 0, 1},
		{0, 0, 0, 0},
		{8, 8, 8, 8},
		{1, 1, 1, 1},
		{198, 18, 0, 1},
		{93, 184, 215, 14},
	}
	if i := g.IntN(len(known) + 3); i < len(known) {
		return known[i]
	}
	n := g.Uint32()
	return [4]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}
}

// ipv4 spells an address in one to four parts, each in some base; occasionally it is invalid.
func (g speller) ipv4() string {
	b := g.address()
	parts := 1 + g.IntN(4)
	var out []string
	for i := range parts - 1 {
		out = append(out, g.number(uint64(b[i])))
	}
	last := uint64(0)
	for _, v := range b[parts-1:] {
		last = last<<8 | uint64(v)
	}
	out = append(out, g.number(last))
	return strings.Join(out, g.mostly(".", "。", "．", "｡", "%2e", "..", "\u00ad.")) +
		g.mostly("", ".", "..", "%00", ":", ".0", "%2E")
}

func (g speller) number(n uint64) string {
	switch g.IntN(12) {
	case 0, 1:
		return "0x" + strconv.FormatUint(n, 16)
	case 2:
		return "0X00" + strings.ToUpper(strconv.FormatUint(n, 16))
	case 3, 4:
		return "0" + strconv.FormatUint(n, 8)
	case 5:
		return "000" + strconv.FormatUint(n, 8)
	case 6:
		return strconv.FormatUint(n+1<<32, 10)
	}
	return strconv.FormatUint(n, 10)
}

func (g speller) ipv6() string {
	b := g.address()
	quad := fmt.Sprintf("%d.%d.%d.%d", b[0], b[1], b[2], b[3])
	if g.IntN(2) == 0 {
		quad = fmt.Sprintf("%02x%02x:%02x%02x", b[0], b[1], b[2], b[3])
	}
	prefix := g.one("::", "::ffff:", "::FFFF:", "0:0:0:0:0:ffff:", "64:ff9b::", "64:ff9b:1::", "2606:4700::5efe:",
		"::ffff:0:", "2001:0:", "fd00::", "fe80::", "2606:4700::", "2001:4860::")
	return "[" + prefix + quad + g.mostly("", "%25lo", "%eth0", ".", ":", "::") + "]" + g.mostly("", ".", "x", ".com")
}

// disguised replaces some letters of a host by equivalent or ignored characters.
func (g speller) disguised(host string) string {
	if g.IntN(3) > 0 {
		return host
	}
	var b strings.Builder
	for _, r := range host {
		switch g.IntN(14) {
		case 0:
			for _, c := range []byte(string(r)) {
				fmt.Fprintf(&b, "%%%02x", c)
			}
		case 1:
			if r > ' ' && r < 0x7f {
				r += 0xfee0 // full width
			}
			b.WriteRune(r)
		case 2:
			b.WriteString(strings.ToUpper(string(r)))
		case 3:
			b.WriteString(string(r) + g.one("\u00ad", "\u200b", "\u2060", "\ufeff", "\t", "\n", "\u200d", "\u0301", "\ufe0f"))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
