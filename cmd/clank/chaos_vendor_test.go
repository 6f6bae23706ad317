//go:build unix

package main

import (
	"net/url"
	"strconv"
	"strings"

	"clank/internal/test/check"
	"clank/internal/test/llmtest"
)

// chaosVendor is a model server that is reached over a line which can be broken.
type chaosVendor struct {
	provider string
	line     *chaosLine
}

// openVendors starts a server of each vendor's API. It is asked for a model by the name of what goes wrong then.
func (c *chaos) openVendors() {
	c.t.Helper()
	for _, v := range []struct{ provider, variable string }{
		{"compatible", ""}, {"openai", "OPENAI"}, {"anthropic", "ANTHROPIC"}, {"gemini", "GEMINI"},
	} {
		var server *llmtest.Server
		switch v.provider {
		case "anthropic":
			server = llmtest.OpenAnthropic()
		case "gemini":
			server = llmtest.OpenGemini()
		default:
			var err error
			server, err = llmtest.Open()
			check.Must(c.t, err)
		}
		c.t.Cleanup(server.Close)
		server.SetFallback(c.turn)
		base, err := url.Parse(server.BaseURL())
		check.Must(c.t, err)
		line := newChaosLine(c.t, base.Host)
		base.Host = line.proxy.Listen
		c.vendors = append(c.vendors, &chaosVendor{v.provider, line})
		if v.variable == "" {
			c.command("config", "set", keyServer, base.String())
		} else {
			c.environ = append(c.environ, v.variable+"_BASE_URL="+base.String(), v.variable+"_API_KEY=sk-test-0123456789")
		}
	}
}

// turn answers a model's call, well or not, as the model's name says.
func (c *chaos) turn(r llmtest.Request) llmtest.Reply {
	reply := llmtest.Reply{Text: chaosAnswer}
	switch r.Model {
	case "held":
		reply.Fault = llmtest.Fault{Hang: llmtest.BeforeHeaders, Release: c.reach()}
	case "streaming":
		reply.Fault = llmtest.Fault{Hang: llmtest.InStream, At: 2, Release: c.reach()}
	case "cut":
		reply.Fault = llmtest.Fault{At: 2, Cut: llmtest.CutClean}
	case "reset":
		reply.Fault = llmtest.Fault{At: 2, Cut: llmtest.CutReset}
	case "error":
		reply.Fault = llmtest.Fault{At: 2, StreamError: "no more today"}
	case "garbage":
		reply.Events = []string{"{\x00]"}
	case "page":
		page := "<!doctype html><title>Sign in</title>"
		reply.Fault = llmtest.Fault{Body: &page, Header: map[string]string{"Content-Type": "text/html"}}
	case "endless":
		comments := strings.Repeat(": and so on\n\n", 3<<20)
		reply.Fault = llmtest.Fault{Body: &comments, Header: map[string]string{"Content-Type": "text/event-stream"}}
	case "silent":
		reply.Fault = llmtest.Fault{Hang: llmtest.BeforeHeaders}
	case "stalls":
		reply.Fault = llmtest.Fault{Hang: llmtest.InStream, At: 2}
	default:
		if status, err := strconv.Atoi(r.Model); err == nil {
			reply.Fault = llmtest.Fault{Status: status, Message: "no more today"}
		}
	}
	return reply
}

// vendorRows have each vendor's API fail in each way.
func (c *chaos) vendorRows() {
	const stepLimit = "agentStack.runtimeConfig.browser.localBrowserAgent.stepTimeoutMs"
	const question = "when does it go?"
	for _, v := range c.vendors {
		for _, row := range []struct{ model, name, names string }{
			{"401", "refuses the key", "key"},
			{"404", "does not know the model", "no model|no such|not found|404"},
			{"429", "limits the rate", "too many requests|429"},
			{"500", "has an error", "500|no more today"},
			{"503", "is overloaded", "503|no more today|overloaded"},
			{"error", "fails in an answer", "no more today"},
			{"cut", "ends in an answer", "cut off"},
			{"reset", "breaks off in an answer", "cut off|broke|reset|connection"},
			{"garbage", "sends garbage", "understood|cut off"},
			{"page", "sends a web page", "web page"},
			{"endless", "talks without end", "longer than"},
		} {
			c.try(v.provider+" "+row.name, row.names, nil, "--model", v.provider+":"+row.model, question)
		}
		c.command("config", "set", stepLimit, "5s")
		c.try(v.provider+" is silent", "gave no answer within 5 seconds", nil, "--model", v.provider+":silent", question)
		c.try(v.provider+" stalls in an answer", "gave no answer within 5 seconds", nil, "--model", v.provider+":stalls",
			question)
		c.command("config", "set", stepLimit, "30s")
		v.line.add("bandwidth", map[string]any{"rate": 1}) // kB a second
		c.try(v.provider+" is slow", "", v.line.mend, "--model", v.provider+":good", question)
		v.line.proxy.Stop()
		c.try(v.provider+" is down", "nothing answers at", v.line.mend, "--model", v.provider+":good", question)
	}
}

// surroundings breaks sites, names and proxies.
func (c *chaos) surroundings() {
	c.try("site refuses connections", "refused|not reached|127.0.0.1:1", nil, "open http://127.0.0.1:1/, read")
	c.try("site breaks off", "without an answer|closed", nil, "open "+c.site.URL+"/broken, read")
	c.try("site sends half a page", "", nil, "open "+c.site.URL+"/half, read")
	const upstream = "agentStack.runtimeConfig.browser.ssrfPolicy.upstreamProxies"
	for name, address := range map[string]string{
		"upstream proxy is down": "socks5://127.0.0.1:1", "upstream proxy is silent": strings.Replace(c.site.URL, "http:",
			"socks5:", 1),
	} {
		c.command("config", "set", upstream, "* "+address)
		c.command("browser", "stop")
		c.try(name, "proxy", func() {
			c.command("config", "set", upstream, "")
			c.command("browser", "stop")
		}, "open "+c.site.URL+"/, read")
	}
	c.command("browser", "stop")
	c.limit("nofile", "20")
	c.try("no descriptors for a browser", "too many|open files|no answer within", func() { c.limit("nofile", "1024") },
		"open "+c.site.URL+"/, read")
	if g, ok := c.controlGroup("pids", "no threads for a browser"); ok {
		c.command("browser", "stop")
		check.Must(c.t, g.setToCurrent(c.server.cmd.Process.Pid))
		c.try("no threads for a browser", chaosGone+"|processes|limit|temporarily unavailable", func() { c.endLimit(g) },
			"open "+c.site.URL+"/, read")
	}
	c.command("browser", "stop")
	c.limit("fsize", "4096")
	c.try("files of 4 kB at most", "limit|database|disk|room", func() { c.limit("fsize", "unlimited") },
		"open "+c.site.URL+"/, read")
	c.memoryHog()
	c.names()
}

// memoryHog has a page take all the memory that a browser may have.
func (c *chaos) memoryHog() {
	g, ok := c.controlGroup("memory", "a page that takes all memory")
	if !ok {
		return
	}
	c.command(c.browseArgs("open " + c.site.URL + "/")...) // a browser runs then
	var pids []int
	for _, p := range processesOf(c.t, c.home) {
		pids = append(pids, p.pid)
	}
	check.Must(c.t, g.set("1G", pids...))
	c.try("page takes all memory", "crashed|script is busy", func() { g.end(c) }, "open "+c.site.URL+
		"/hog, click \"Fill\", read")
}
