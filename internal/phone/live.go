package phone

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"clank/bot/gateway"
	"clank/settings"
	"clank/sharing"
	"clank/voice/discord/golive"
	"clank/voice/discord/golive/preview"
	"clank/voice/discord/media"
)

// Names of the secrets that matter to Go Live.
const (
	liveToken = "DISCORD_GOLIVE_TOKEN"
	botToken  = "DISCORD_TOKEN"
)

// What is asked of Discord, as its developer documentation has it.
const (
	apiVersion  = "9"      // as the bot's library speaks it
	liveIntents = 1 | 1<<7 // guilds, and who is in which voice channel
)

const (
	liveTry     = 30 * time.Second // for one try to connect the account
	livePause   = time.Minute      // between two of them
	askLimit    = 10 * time.Second // where the gateway is
	maxAnswer   = 64 << 10         // bytes of the answer
	liveRate    = 8                // frames a second that are announced
	liveBitrate = 4_000_000        // and bits
)

// live is the account that goes live, if the settings want one.
type live struct {
	mu      sync.Mutex
	wanted  bool
	account *golive.Account // nil while it is not connected
	problem string          // why not, for people
}

func (l *live) set(a *golive.Account, problem string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.account, l.problem = a, problem
}

// now is the account that is connected, or why none is.
func (l *live) now() (*golive.Account, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.account == nil {
		return nil, errors.New(l.problem)
	}
	return l.account, nil
}

// sits reports whether somebody in a call is the account, which is there to show something.
func (l *live) sits(id string) bool {
	a, err := l.now()
	return err == nil && a.UserID() == id
}

// openLive connects the account for Go Live, if the settings want that, and tries again until the program ends. Shares go
// elsewhere until it is there, and say why.
func (x *Exchange) openLive() {
	if !x.Settings().Share.GoLive {
		return
	}
	x.live.wanted = true
	token, err := x.liveToken()
	if err != nil {
		x.Logger.Error("go live is switched on, but cannot be used", "error", err)
		x.live.set(nil, err.Error())
		return
	}
	x.live.set(nil, "its account is not connected to Discord yet")
	x.work.Go(func() {
		a, err := x.connectLive(token)
		if err != nil {
			return
		}
		<-x.life.Done()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(x.life), liveTry)
		defer cancel()
		if err := a.Close(ctx); err != nil {
			x.Logger.Warn("the account for go live did not leave as it should", "error", err)
		}
	})
}

// liveToken is the credential of the account, which is never the bot's.
func (x *Exchange) liveToken() (string, error) {
	own, err := x.Secret(liveToken)
	if err != nil {
		return "", err
	}
	if !own.Present() {
		return "", errors.New("it has no account: set " + liveToken + ", or switch it off in the settings")
	}
	bots, err := x.Secret(botToken)
	if err != nil {
		return "", err
	}
	if bare(own) == bare(bots) {
		return "", errors.New(liveToken + " is the bot's own token, and Discord lets no bot go live: it needs an account of its own, or switch it off in the settings")
	}
	return bare(own), nil
}

// bare is a token without the word that bots have before it.
func bare(s settings.SecretValue) string {
	if !s.Present() {
		return ""
	}
	return strings.TrimPrefix(strings.TrimSpace(s.Reveal()), "Bot ")
}

// connectLive returns when the account is connected, Discord refuses it, or the program ends.
func (x *Exchange) connectLive(token string) (*golive.Account, error) {
	for {
		small := &preview.Poster{API: x.discordAPI(), Token: token, HTTPClient: x.HTTPClient}
		a := &golive.Account{
			HTTPClient: x.HTTPClient, Logger: x.Logger, Preview: small.Show, Format: media.Format{Rate: liveRate, Bitrate: liveBitrate},
			Dial: func(dispatch func(string, json.RawMessage)) golive.Gateway {
				return &gateway.Client{
					Token: token, NoBot: true, Intents: liveIntents,
					URL: x.gatewayURL, OnDispatch: dispatch, HTTPClient: x.HTTPClient, Logger: x.Logger,
				}
			},
		}
		ctx, cancel := context.WithTimeout(x.life, liveTry)
		err := a.Open(ctx)
		cancel()
		if err == nil {
			x.Logger.Info("the account for go live is connected")
			x.live.set(a, "")
			return a, nil
		}
		if x.life.Err() != nil {
			return nil, context.Cause(x.life)
		}
		x.Logger.Error("go live cannot be used", "error", err)
		x.live.set(nil, err.Error())
		if _, refused := errors.AsType[*gateway.RefusedError](err); refused {
			return nil, err
		}
		select {
		case <-time.After(livePause):
		case <-x.life.Done():
			return nil, context.Cause(x.life)
		}
	}
}

// discordAPI is where Discord's REST API is.
func (x *Exchange) discordAPI() string {
	base := x.DiscordBase
	if base == "" {
		base = "https://discord.com"
	}
	return base + "/api/v" + apiVersion
}

// gatewayURL asks Discord where its gateway is. Nobody has to sign in for that.
func (x *Exchange) gatewayURL(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, x.discordAPI()+"/gateway", nil)
	if err != nil {
		return "", fmt.Errorf("ask Discord where its gateway is: %w", err)
	}
	client := x.HTTPClient
	if client == nil {
		client = http.DefaultClient
	}
	res, err := client.Do(req)
	if err != nil {
		return "", fmt.Errorf("ask Discord where its gateway is: %w", err)
	}
	defer res.Body.Close()
	var answer struct {
		URL string `json:"url"`
	}
	if err := json.NewDecoder(io.LimitReader(res.Body, maxAnswer)).Decode(&answer); err != nil || res.StatusCode != http.StatusOK {
		return "", fmt.Errorf("ask Discord where its gateway is: it answered %s", res.Status)
	}
	u, err := url.Parse(answer.URL)
	if err != nil || u.Host == "" {
		return "", errors.New("ask Discord where its gateway is: it gave no usable address")
	}
	u.Path, u.RawQuery = "/"+strings.TrimPrefix(u.Path, "/"), "v="+apiVersion+"&encoding=json"
	return u.String(), nil
}

// liveStage shows shares by Go Live, once its account is connected.
type liveStage struct {
	live  *live
	stage *golive.Stage // set by Begin
}

// Name implements [sharing.Stage].
func (*liveStage) Name() string { return "Go Live" }

// Begin implements [sharing.Stage].
func (s *liveStage) Begin(ctx context.Context, show sharing.Show) (sharing.Place, error) {
	a, err := s.live.now()
	if err != nil {
		return sharing.Place{}, err
	}
	s.stage = &golive.Stage{Publisher: a.Publisher()}
	return s.stage.Begin(ctx, show)
}

// End implements [sharing.Stage].
func (s *liveStage) End(ctx context.Context, show sharing.Show) error { return s.stage.End(ctx, show) }
