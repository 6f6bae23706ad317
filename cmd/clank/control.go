package main

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"strconv"
	"syscall"

	"clank/browsermgr/control"
	"clank/browsermgr/control/client"
	"clank/browsermgr/control/gate"
	"clank/internal/asking"
	"clank/internal/toolbox"
	"clank/sessions"
	"clank/settings"
	"clank/tokens"
)

// controlAddr is where the control API listens unless a flag says otherwise. Scripts that know the port of a gateway
// expect it two above.
func controlAddr(getenv func(string) string) string {
	if port, err := strconv.Atoi(getenv("OPENCLAW_GATEWAY_PORT")); err == nil && port > 0 && port < 65534 {
		return net.JoinHostPort("127.0.0.1", strconv.Itoa(port+2))
	}
	return control.DefaultAddr
}

// openControl serves the control API and tells commands of the same person where it is. If its usual port is taken, it
// takes any: the commands find it all the same.
func (a *app) openControl(ctx context.Context, addr string) (*control.Server, error) {
	secrets, err := a.controlSecrets()
	if err != nil {
		return nil, err
	}
	s := &control.Server{
		Manager: a.browsers, Features: a.features, Policy: a.gate, Addr: addr, Secrets: secrets, Version: a.version, Logger: a.logger,
		EvaluateEnabled: func() bool { return a.settings.Now().Browser.EvaluateEnabled },
		SnapshotMode:    func() string { return a.settings.Now().Browser.SnapshotMode },
		Consent:         asking.ToolConsent{Asker: a.asker},
	}
	if s.Addr == "" {
		s.Addr = controlAddr(a.getenv)
	}
	err = s.Open(ctx)
	if addr == "" && errors.Is(err, syscall.EADDRINUSE) {
		a.logger.Warn("the port of the control API is taken: it listens on another", "address", s.Addr)
		s.Addr = "127.0.0.1:0"
		err = s.Open(ctx)
	}
	if err != nil {
		return nil, err
	}
	a.onClose(s.Close)
	if err := a.own.addURL(s.URL()); err != nil {
		return nil, err
	}
	withdraw, err := client.Announce(a.home.Dir, s.URL(), a.local)
	if err != nil {
		return nil, fmt.Errorf("announce the control API: %w", err)
	}
	a.onClose(func(context.Context) error { withdraw(); return nil })
	a.tools = toolbox.New(a.place, s.URL(), a.local)
	a.tools.Settings = a.settings.Now
	a.tools.Secret = func(name string) (settings.SecretValue, error) { return settings.ReadSecret(name, a.getenv) }
	a.tools.Model = a.models.Find
	a.tools.Speak = a.asker.Speakers.Enter
	a.tools.MayUse = func(o sessions.Origin) bool { return mayUseUsual(a.settings.Now(), o) }
	a.onClose(a.tools.Close)
	return s, nil
}

// controlSecrets are the token and the password of the environment, the secret of this run, and the tokens that were given
// out.
func (a *app) controlSecrets() (gate.Secrets, error) {
	var s gate.Secrets
	for _, name := range []string{"CLANK_BROWSER_TOKEN", "OPENCLAW_GATEWAY_TOKEN"} {
		v, err := settings.ReadSecret(name, a.getenv)
		if err != nil {
			return s, err
		}
		if s.Token == "" && v.Present() {
			s.Token = v.Reveal()
		}
	}
	v, err := settings.ReadSecret("OPENCLAW_GATEWAY_PASSWORD", a.getenv)
	if err != nil {
		return s, err
	}
	s.Password = v.Reveal()
	s.Issued = func(secret string) bool { return a.isLocal(secret) || a.tokens.Valid(secret, tokens.Control) }
	return s, nil
}

// isLocal reports whether a secret is that of this run.
func (a *app) isLocal(secret string) bool {
	got, want := sha256.Sum256([]byte(secret)), sha256.Sum256([]byte(a.local))
	return subtle.ConstantTimeCompare(got[:], want[:]) == 1
}
