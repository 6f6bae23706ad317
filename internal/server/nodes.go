package server

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"clank/browseagent/browsertool"
	"clank/dashboard/api"
	"clank/internal/settings"
	"clank/sessions"
)

const (
	nodeTestTime   = 15 * time.Second
	maxNodeCallers = 50 // most remembered callers
)

// nodeBook records which machines use our browsers and which lend us theirs, since the start.
type nodeBook struct {
	mu      sync.Mutex
	lending api.Lending
	callers map[string]time.Time // time of the last call, by address
	answers map[settings.Node]api.Node
}

// lend records the URL and certificate, if any, under which our browsers are lent.
func (b *nodeBook) lend(url string, certificates []tls.Certificate) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lending.URL = url
	for _, c := range certificates {
		b.lending.CertificateFor, b.lending.CertificateUntil = strings.Join(c.Leaf.DNSNames, ", "), c.Leaf.NotAfter
	}
}

// recordCaller records an authenticated request of another machine.
func (b *nodeBook) recordCaller(r *http.Request) {
	from, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.callers == nil || len(b.callers) >= maxNodeCallers {
		b.callers = map[string]time.Time{}
	}
	b.callers[from] = time.Now()
}

// Lending implements [dashboard.Nodes].
func (a nodePages) Lending() api.Lending {
	b := &a.nodes
	b.mu.Lock()
	defer b.mu.Unlock()
	l := b.lending
	l.Profiles = a.lentProfiles()
	for from, at := range b.callers {
		l.Callers = append(l.Callers, api.NodeCaller{From: from, At: at})
	}
	slices.SortFunc(l.Callers, func(x, y api.NodeCaller) int { return y.At.Compare(x.At) })
	return l
}

// nodePages provides the dashboard with information about nodes. It implements [dashboard.Nodes].
type nodePages struct{ *Server }

// Nodes implements [dashboard.Nodes].
func (a nodePages) Nodes() []api.Node {
	a.nodes.mu.Lock()
	defer a.nodes.mu.Unlock()
	list := []api.Node{}
	for _, n := range a.Settings.Current().BrowserTool.NodeList() {
		known := a.nodes.answers[n]
		known.Name, known.URL = n.Name, n.URL
		list = append(list, known)
	}
	return list
}

// TestNode implements [dashboard.Nodes].
func (a nodePages) TestNode(ctx context.Context, name string) (api.Node, error) {
	list := a.Settings.Current().BrowserTool.NodeList()
	i := slices.IndexFunc(list, func(n settings.Node) bool { return n.Name == name })
	if i < 0 {
		return api.Node{}, sessions.ErrNotFound
	}
	ctx, done := context.WithTimeoutCause(ctx, nodeTestTime, errNodeSilent)
	defer done()
	found := api.Node{Name: name, URL: list[i].URL, At: time.Now()}
	status, err := a.nodeStatus(ctx, list[i])
	if err != nil {
		found.Problem, found.Fix = explainNode(err)
	}
	found.Version = status.Version
	for _, b := range status.Browsers {
		found.Browsers = append(found.Browsers, api.NodeBrowser{Name: b.Name, Running: b.Running})
	}
	a.nodes.mu.Lock()
	defer a.nodes.mu.Unlock()
	if a.nodes.answers == nil {
		a.nodes.answers = map[settings.Node]api.Node{}
	}
	a.nodes.answers[list[i]] = found
	return found, nil
}

var (
	errNodeSilent  = errors.New("no answer within 15 s")
	errNoNodeToken = errors.New("CLANK_NODE_TOKEN is not set")
)

func (a nodePages) nodeStatus(ctx context.Context, n settings.Node) (browsertool.NodeStatus, error) {
	token, err := settings.ReadSecret("CLANK_NODE_TOKEN", a.getenv)
	if err == nil && !token.IsSet() {
		err = errNoNodeToken
	}
	if err != nil {
		return browsertool.NodeStatus{}, err
	}
	c := browsertool.NodeClient{Proxy: &browsertool.APIClient{URL: n.URL, Token: token.Reveal()}}
	return c.Status(ctx)
}

// explainNode returns sentences about why a node does not answer as expected and what to do.
func explainNode(err error) (problem, fix string) {
	const where = "Start it there with clank serve --node-addr, and see whether this machine reaches the address."
	unknown, _ := errors.AsType[x509.UnknownAuthorityError](err)
	_, wrongHost := errors.AsType[x509.HostnameError](err)
	_, invalid := errors.AsType[x509.CertificateInvalidError](err)
	switch {
	case errors.Is(err, errNoNodeToken):
		return "This clank has no token for nodes.",
			"Start it with CLANK_NODE_TOKEN set to the same secret as on the node."
	case errors.Is(err, browsertool.ErrNodeToken):
		return "It refuses the token of this clank.",
			"Set CLANK_NODE_TOKEN to the same secret on both machines, and start both again."
	case unknown.Cert != nil:
		return "Nobody this machine trusts has signed its certificate.",
			"Give the node one that is signed, or start this clank with SSL_CERT_FILE naming a file that holds it."
	case wrongHost, invalid:
		return "Its certificate does not hold for this address, or not any more.",
			"Give the node a certificate that does."
	case errors.Is(err, browsertool.ErrAPIBadAnswer):
		return "Something answers there that is no node.", "Correct its address in the settings under Browser tool."
	case errors.Is(err, browsertool.ErrAPITimedOut), errors.Is(err, errNodeSilent):
		return "It does not answer in time.", where
	case errors.Is(err, browsertool.ErrAPIUnreachable):
		return "Nothing answers at its address.", where
	}
	return sentence(err.Error()), where
}
