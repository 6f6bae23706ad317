package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"clank/browsermgr/chrome"
	"clank/internal/settings"
)

// settingsCheckTime bounds the checks of settings against the environment.
const settingsCheckTime = 10 * time.Second

// Keys of settings with special checks.
const (
	browserPathKey   = "agentStack.runtimeConfig.browser.executablePath"
	compatibleURLKey = "agentStack.runtimeConfig.models.compatibleBaseUrl"
)

// CheckSettings returns the changed settings that are valid but will not work in the current environment: a model
// that its vendor does not list, a missing program, a host name that does not resolve.
func (a *Server) CheckSettings(ctx context.Context, changes map[string]json.RawMessage) []settings.FieldError {
	ctx, done := context.WithTimeoutCause(ctx, settingsCheckTime, errors.New("no answer within 10 s"))
	defer done()
	now := a.Settings.Current()
	// absent or not a string; the latter is refused anyway
	_ = json.Unmarshal(changes[compatibleURLKey], &now.CompatibleURL)
	finder := &ModelFinder{Settings: fixedSettings{&now}, Getenv: a.getenv}
	var mu sync.Mutex
	var doubts []settings.FieldError
	var work sync.WaitGroup
	for _, key := range slices.Sorted(maps.Keys(changes)) {
		f, _ := settings.FindField(key)
		var value string
		if json.Unmarshal(changes[key], &value) != nil || value == "" {
			continue
		}
		work.Go(func() {
			if why := checkValue(ctx, finder, f, value); why != "" {
				mu.Lock()
				defer mu.Unlock()
				doubts = append(doubts, settings.FieldError{Key: f.Key, Value: value, Why: why})
			}
		})
	}
	work.Wait()
	slices.SortFunc(doubts, func(a, b settings.FieldError) int { return strings.Compare(a.Key, b.Key) })
	return doubts
}

// checkValue returns why a value will not work, to follow "it" or "this"; "" if it may.
func checkValue(ctx context.Context, finder *ModelFinder, f settings.Field, value string) string {
	switch {
	case f.Key == browserPathKey:
		if _, err := chrome.Find(ctx, value); err != nil {
			return "leads to no browser: " + err.Error()
		}
	case f.Kind == settings.KindModel:
		return checkModelListed(ctx, finder, value)
	case f.Kind == settings.KindURL:
		u, err := url.Parse(value)
		if err != nil {
			return "" // it is refused anyway
		}
		if _, err := net.DefaultResolver.LookupHost(ctx, u.Hostname()); err != nil {
			return fmt.Sprintf("names the host %s, which has no address", u.Hostname())
		}
	}
	return ""
}

// checkModelListed asks the vendor whether a model exists.
func checkModelListed(ctx context.Context, finder *ModelFinder, name string) string {
	provider, model, _ := strings.Cut(name, ":")
	if err := finder.checkReady(provider, name); err != nil {
		return "cannot be used yet: " + err.Error()
	}
	if provider == "plain" {
		return ""
	}
	names, err := finder.Models(ctx, provider)
	switch {
	case err != nil:
		return "could not be checked: " + err.Error()
	case slices.Contains(names, model):
		return ""
	}
	near := slices.DeleteFunc(names, func(n string) bool { return !strings.HasPrefix(n, model[:min(len(model), 3)]) })
	if len(near) == 0 {
		return "names a model that " + provider + " does not offer"
	}
	return fmt.Sprintf("names a model that %s does not offer; it offers %s", provider,
		strings.Join(near[:min(len(near), 5)], ", "))
}
