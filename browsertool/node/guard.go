package node

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// guarded is a request that may go to the control API.
type guarded struct {
	method, path string
	query        url.Values
	body         any
	profile      string // the one it is for; "" if no rule asks for one
}

// route brings a method and a path to the one form that is judged and then
// sent, so that both are surely the same.
func route(method, p string) (string, string, *refusal) {
	method = strings.ToUpper(strings.TrimSpace(method))
	if method == "" {
		method = http.MethodGet
	}
	if !slices.Contains([]string{http.MethodGet, http.MethodPost, http.MethodDelete}, method) {
		return "", "", invalid("the method must be GET, POST or DELETE")
	}
	p = strings.TrimSpace(p)
	if !strings.HasPrefix(p, "/") || strings.ContainsAny(p, "?#\\") {
		return "", "", invalid("the path must begin with / and hold no query")
	}
	plain, err := url.PathUnescape(p)
	if err != nil || strings.ContainsAny(plain, "%?#\\") || strings.ContainsFunc(plain, odd) {
		return "", "", invalid("the path holds characters that no route has")
	}
	return method, path.Clean(plain), nil
}

func odd(r rune) bool {
	return r == unicode.ReplacementChar || r > unicode.MaxASCII || !unicode.IsPrint(r)
}

// refuses says whether a route changes the node's profiles, which nobody does
// from afar.
func refuses(method, p string) bool {
	if method == http.MethodGet {
		return false
	}
	first, _, _ := strings.Cut(strings.ToLower(strings.TrimPrefix(p, "/")), "/")
	return slices.Contains([]string{"profiles", "reset-profile", "system-profile-import", "browser.proxy"}, first)
}

// guard decides on a request and makes it unambiguous: where profiles are
// limited, the one it is for is named in the query and nowhere else.
func (p *Proxy) guard(r request) (guarded, *refusal) {
	method, route, no := route(r.Method, r.Path)
	if no != nil {
		return guarded{}, no
	}
	if refuses(method, route) {
		return guarded{}, forbidden("profiles of a node cannot be created, reset, imported or deleted from another machine; do it on the node itself")
	}
	query, no := values(r.Query)
	if no != nil {
		return guarded{}, no
	}
	g := guarded{method: method, path: route, query: query, body: r.Body}
	named := []string{query.Get("profile"), strings.TrimSpace(r.Profile)}
	body, isObject := r.Body.(map[string]any)
	if isObject {
		for key, v := range body {
			if strings.EqualFold(key, "profile") {
				named = append(named, scalar(v))
				delete(body, key)
			}
		}
	}
	if g.profile, no = p.pick(named); no != nil {
		return guarded{}, no
	}
	query.Del("profile")
	if g.profile != "" {
		query.Set("profile", g.profile)
	}
	return g, nil
}

// pick returns the profile that a request is for, if all that it names are
// allowed: the query's before the envelope's before the body's.
func (p *Proxy) pick(named []string) (string, *refusal) {
	chosen := ""
	for _, name := range named {
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		if no := p.allow(name); no != nil {
			return "", no
		}
		if chosen == "" {
			chosen = name
		}
	}
	if chosen != "" || len(p.AllowProfiles) == 0 {
		return chosen, nil
	}
	if p.DefaultProfile != nil {
		chosen = strings.TrimSpace(p.DefaultProfile())
	}
	if chosen == "" {
		return "", forbidden("this node allows some profiles only; name one of them: " + strings.Join(p.AllowProfiles, ", "))
	}
	return chosen, p.allow(chosen)
}

func (p *Proxy) allow(name string) *refusal {
	if len(p.AllowProfiles) == 0 || slices.Contains(p.AllowProfiles, name) {
		return nil
	}
	return forbidden(fmt.Sprintf("this node does not share its profile %q; it shares: %s", name, strings.Join(p.AllowProfiles, ", ")))
}

// values turns a JSON object into a query. Names that differ from "profile" in
// case only are refused: who reads them how is not ours to guess.
func values(in map[string]any) (url.Values, *refusal) {
	query := url.Values{}
	for key, v := range in {
		if key != "profile" && strings.EqualFold(strings.TrimSpace(key), "profile") {
			return nil, invalid("write the query's profile in small letters")
		}
		switch v.(type) {
		case nil:
		case string, bool, json.Number:
			query.Set(key, scalar(v))
		default:
			return nil, invalid("the query may hold strings, numbers and booleans only")
		}
	}
	return query, nil
}

func scalar(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case json.Number:
		return v.String()
	}
	return ""
}

func invalid(text string) *refusal {
	return &refusal{Status: http.StatusBadRequest, Error: text, Code: codeInvalid}
}

func forbidden(text string) *refusal {
	return &refusal{Status: http.StatusForbidden, Error: text, Code: codeForbidden}
}
