package policy

import (
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// Target is the destination of a request.
type Target struct {
	// Scheme is http, https, ws or wss; about for about:blank; empty for CONNECT. Lower case, no colon.
	Scheme string
	// Host is a name in lower-case ASCII without a trailing dot, or an address in canonical form without brackets.
	Host string
	// Port is the explicit port, or the scheme's default.
	Port uint16
	// Literal is the address if Host is one, however it was spelled.
	Literal netip.Addr
}

// schemePorts are the default ports of the schemes that use the network.
var schemePorts = map[string]uint16{"http": 80, "https": 443, "ws": 80, "wss": 443}

// CheckURL checks the URL of a document or request as the page or browser wrote it: http, https, ws, wss, or exactly
// about:blank. Checks that need DNS are left to [Policy.CheckIP]. Its errors are of type [*Refusal].
func (p *Policy) CheckURL(raw string) (Target, error) {
	t, _, err := parseTarget(raw)
	if err != nil {
		return Target{}, err
	}
	if t.Scheme == "about" {
		return t, nil
	}
	if err := p.checkTarget(t); err != nil {
		return Target{}, err
	}
	return t, nil
}

// CheckEnteredURL checks an address to which a person or a model wants to navigate. It is like [Policy.CheckURL] with
// further restrictions: only http, https and about:blank; no user name, password or parameters that look like secrets,
// which pages and logs would show; and other URL parsers than browsers' must find the same host.
func (p *Policy) CheckEnteredURL(raw string) (Target, error) {
	t, rest, err := parseTarget(raw)
	switch {
	case err != nil:
		return Target{}, err
	case t.Scheme == "about":
		return t, nil
	case t.Scheme == "ws" || t.Scheme == "wss":
		return Target{}, &Refusal{Host: t.Host, Port: t.Port, Scheme: t.Scheme, Rule: RuleScheme}
	}
	if err := checkNoSecret(t, rest); err != nil {
		return Target{}, err
	}
	u, err := url.Parse(strings.TrimSpace(raw))
	if err != nil {
		return Target{}, malformedRefusal(raw, "not a web address")
	}
	if host, _, why := parseHost(bracketed(u.Hostname())); why != "" || host != t.Host {
		return Target{}, malformedRefusal(raw, "browsers and other programs do not find the same host in it")
	}
	if err := p.checkTarget(t); err != nil {
		return Target{}, err
	}
	return t, nil
}

// CheckHostPort checks the target of a CONNECT request. The host may have brackets; a zone is refused.
func (p *Policy) CheckHostPort(host string, port uint16) (Target, error) {
	name, literal, why := parseHost(bracketed(host))
	if why != "" {
		return Target{}, malformedRefusal(host, why)
	}
	t := Target{Host: name, Port: port, Literal: literal}
	if err := p.checkTarget(t); err != nil {
		return Target{}, err
	}
	return t, nil
}

// bracketed adds brackets to an IPv6 address without them.
func bracketed(host string) string {
	if strings.Contains(host, ":") && !strings.HasPrefix(host, "[") {
		return "[" + host + "]"
	}
	return host
}

// urlParts holds properties of a URL that are not part of [Target].
type urlParts struct {
	user  bool // there is an @ before the host
	query string
}

// parseTarget parses a URL with the URL Standard's parser for the schemes that have a host, without a base.
func parseTarget(raw string) (Target, urlParts, error) {
	s := strings.TrimFunc(raw, func(r rune) bool { return r <= ' ' })
	s = strings.NewReplacer("\t", "", "\n", "", "\r", "").Replace(s)
	scheme, rest, ok := strings.Cut(s, ":")
	if !ok || !isScheme(scheme) {
		return Target{}, urlParts{}, malformedRefusal(raw, "it does not begin with http:// or https://")
	}
	t := Target{Scheme: strings.ToLower(scheme)}
	port, ok := schemePorts[t.Scheme]
	if t.Scheme == "about" && rest == "blank" {
		return t, urlParts{}, nil
	}
	if !ok {
		return Target{}, urlParts{}, &Refusal{Scheme: excerpt(t.Scheme), Rule: RuleScheme}
	}
	rest = strings.TrimLeft(rest, `/\`)
	end := strings.IndexAny(rest, `/\?#`)
	if end < 0 {
		end = len(rest)
	}
	authority, rest := rest[:end], rest[end:]
	var more urlParts
	rest, _, _ = strings.Cut(rest, "#")
	_, more.query, _ = strings.Cut(rest, "?")
	if at := strings.LastIndexByte(authority, '@'); at >= 0 {
		more.user, authority = true, authority[at+1:]
	}
	host, portText, ok := cutPort(authority)
	if !ok {
		return Target{}, urlParts{}, malformedRefusal(raw, "the port or a bracket is malformed")
	}
	if portText != "" {
		n, err := strconv.ParseUint(portText, 10, 16)
		if err != nil {
			return Target{}, urlParts{}, malformedRefusal(raw, "the port is no number from 1 to 65535")
		}
		port = uint16(n)
	}
	t.Port = port
	var why string
	if t.Host, t.Literal, why = parseHost(host); why != "" {
		return Target{}, urlParts{}, malformedRefusal(raw, why)
	}
	return t, more, nil
}

// cutPort splits the port, if there is one, off a host.
func cutPort(authority string) (host, port string, ok bool) {
	if strings.HasPrefix(authority, "[") {
		end := strings.IndexByte(authority, ']')
		if end < 0 {
			return "", "", false
		}
		host, port = authority[:end+1], authority[end+1:]
		if port == "" {
			return host, "", true
		}
		port, ok = strings.CutPrefix(port, ":")
		return host, port, ok && isDigits(port)
	}
	host, port, _ = strings.Cut(authority, ":")
	return host, port, isDigits(port)
}

func isDigits(s string) bool { return strings.Trim(s, "0123456789") == "" }

func isScheme(s string) bool {
	for i, r := range strings.ToLower(s) {
		letter := r >= 'a' && r <= 'z'
		if !letter && (i == 0 || (r < '0' || r > '9') && r != '+' && r != '-' && r != '.') {
			return false
		}
	}
	return s != ""
}

// secretNames are parameters that contain secrets, in lower case without - and _.
var secretNames = map[string]bool{
	"accesstoken": true, "apikey": true, "apisecret": true, "apitoken": true, "auth": true, "authtoken": true,
	"authorization": true, "bearer": true,
	"clientsecret": true, "credential": true, "credentials": true, "idtoken": true, "jwt": true, "passphrase": true,
	"passwd":   true,
	"password": true, "privatekey": true, "pwd": true, "refreshtoken": true, "secret": true, "secretkey": true,
	"sessiontoken": true,
	"token":        true, "xamzcredential": true, "xamzsecuritytoken": true, "xamzsignature": true,
	"xgoogcredential": true,
	"xgoogsignature":  true,
}

// checkNoSecret refuses a URL that contains a secret. The refusal does not contain it.
func checkNoSecret(t Target, rest urlParts) error {
	refusal := &Refusal{Host: t.Host, Port: t.Port, Scheme: t.Scheme, Rule: RuleCredentials}
	if rest.user {
		refusal.Detail = "it carries a user name or a password, which pages and logs would show; set them with " +
			"/set/credentials"
		return refusal
	}
	for pair := range strings.SplitSeq(rest.query, "&") {
		name, value, _ := strings.Cut(pair, "=")
		name = strings.ToLower(percentDecoded(name))
		if value != "" && secretNames[strings.NewReplacer("-", "", "_", "", "+", "").Replace(name)] {
			refusal.Detail = "its parameter " + strconv.Quote(excerpt(name)) + " looks like a secret, which pages and logs " +
				"would show; open the page without it and sign in there"
			return refusal
		}
	}
	return nil
}
