package server

import (
	"cmp"
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

	"clank/bot/discord"
	"clank/cancel"
	"clank/internal/settings"
	"clank/voice/discord/conn"
	"clank/voice/discord/golive"
	"clank/voice/share"
)

// Names of the secrets for Go Live.
const (
	goLiveTokenName = "DISCORD_GOLIVE_TOKEN"
	botTokenName    = "DISCORD_TOKEN"
)

// Parameters of the Discord API, from its developer documentation.
const (
	discordAPIVersion = "9"      // the version that the bot's library uses
	goLiveIntents     = 1 | 1<<7 // GUILDS and GUILD_VOICE_STATES
)

const (
	goLiveConnectTimeout = 30 * time.Second // for one attempt to connect the account
	goLiveRetryPause     = time.Minute      // between two attempts
	gatewayURLTimeout    = 10 * time.Second // for requesting the gateway's address
	maxGatewayAnswer     = 64 << 10         // bytes of that response
	goLiveFrameRate      = 8                // announced frames per second
	goLiveBitrate        = 4_000_000        // announced bits per second
)

// goLiveAccount is the account that streams with Go Live, if one is configured.
type goLiveAccount struct {
	mu      sync.Mutex
	wanted  bool
	account *golive.Account // nil while not connected
	problem string          // why not, for people
}

func (l *goLiveAccount) set(a *golive.Account, problem string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.account, l.problem = a, problem
}

// connected returns the connected account, or why there is none.
func (l *goLiveAccount) connected() (*golive.Account, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.account == nil {
		return nil, errors.New(l.problem)
	}
	return l.account, nil
}

// isAccount reports whether a person in a call is this account, which only streams.
func (l *goLiveAccount) isAccount(id string) bool {
	a, err := l.connected()
	return err == nil && a.UserID() == id
}

// openGoLive connects the account for Go Live, if one is configured, and retries until the server closes. Until then,
// shares use other targets and say why.
func (x *CallService) openGoLive() {
	if !x.Settings.Current().Share.GoLive {
		return
	}
	x.goLive.wanted = true
	token, err := x.goLiveToken()
	if err != nil {
		x.Logger.Error("go live is switched on, but cannot be used", "error", err)
		x.goLive.set(nil, err.Error())
		return
	}
	x.goLive.set(nil, "its account is not connected to Discord yet")
	x.background.Go(func() {
		a, err := x.connectGoLive(token)
		if err != nil {
			return
		}
		<-x.callsContext.Done()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(x.callsContext), goLiveConnectTimeout)
		defer cancel()
		if err := a.Close(ctx); err != nil {
			x.Logger.Warn("the account for go live did not leave as it should", "error", err)
		}
	})
}

// goLiveToken returns the account's token, which must not be the bot's.
func (x *CallService) goLiveToken() (string, error) {
	own, err := settings.ReadSecret(goLiveTokenName, x.Getenv)
	if err != nil {
		return "", err
	}
	if !own.IsSet() {
		return "", errors.New("it has no account: set " + goLiveTokenName + ", or switch it off in the settings")
	}
	bots, err := settings.ReadSecret(botTokenName, x.Getenv)
	if err != nil {
		return "", err
	}
	if bareToken(own) == bareToken(bots) {
		return "", errors.New(goLiveTokenName + " is the bot's own token, and Discord lets no bot go live: it needs an " +
			"account of its own, or switch it off in the settings")
	}
	return bareToken(own), nil
}

// bareToken returns a token without the "Bot " prefix.
func bareToken(s settings.SecretValue) string {
	if !s.IsSet() {
		return ""
	}
	return strings.TrimPrefix(strings.TrimSpace(s.Reveal()), "Bot ")
}

// connectGoLive returns when the account is connected, Discord rejects it, or the server closes.
func (x *CallService) connectGoLive(token string) (*golive.Account, error) {
	for {
		small := &golive.PreviewPoster{API: x.discordAPI(), Token: token}
		a := &golive.Account{
			Logger: x.Logger, Preview: small.Post, RequireEncryption: x.requireEncryption,
			Format: conn.Format{Rate: goLiveFrameRate, Bitrate: goLiveBitrate},
			Dial: func(dispatch func(string, json.RawMessage)) golive.Gateway {
				return &discord.Gateway{
					Token: token, UserToken: true, Intents: goLiveIntents,
					URL: x.gatewayURL, OnDispatch: dispatch, Logger: x.Logger,
				}
			},
		}
		ctx, done := context.WithTimeout(x.callsContext, goLiveConnectTimeout)
		err := a.Open(ctx)
		done()
		if err == nil {
			x.Logger.Info("the account for go live is connected")
			x.goLive.set(a, "")
			return a, nil
		}
		if x.callsContext.Err() != nil {
			return nil, context.Cause(x.callsContext)
		}
		x.Logger.Error("go live cannot be used", "error", err)
		x.goLive.set(nil, err.Error())
		if _, refused := errors.AsType[*discord.GatewayRefusedError](err); refused {
			return nil, err
		}
		if err := cancel.Sleep(x.callsContext, goLiveRetryPause); err != nil {
			return nil, err
		}
	}
}

// discordAPI returns the base URL of Discord's REST API.
func (x *CallService) discordAPI() string {
	base := cmp.Or(x.DiscordBase, "https://discord.com")
	return base + "/api/v" + discordAPIVersion
}

// gatewayURL requests the address of Discord's gateway, which needs no authentication.
func (x *CallService) gatewayURL(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, gatewayURLTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, x.discordAPI()+"/gateway", nil)
	if err != nil {
		return "", fmt.Errorf("ask Discord where its gateway is: %w", err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", fmt.Errorf("ask Discord where its gateway is: %w", err)
	}
	defer res.Body.Close()
	var answer struct {
		URL string `json:"url"`
	}
	if err := json.NewDecoder(io.LimitReader(res.Body, maxGatewayAnswer)).Decode(&answer); err != nil ||
		res.StatusCode != http.StatusOK {
		return "", fmt.Errorf("ask Discord where its gateway is: it answered %s", res.Status)
	}
	u, err := url.Parse(answer.URL)
	if err != nil || u.Host == "" {
		return "", errors.New("ask Discord where its gateway is: it gave no usable address")
	}
	u.Path, u.RawQuery = "/"+strings.TrimPrefix(u.Path, "/"), "v="+discordAPIVersion+"&encoding=json"
	return u.String(), nil
}

// goLiveTarget shares by Go Live, once the account is connected.
type goLiveTarget struct {
	account *goLiveAccount
	target  *golive.Target // set by Begin
}

func (*goLiveTarget) Name() string { return "Go Live" }

func (s *goLiveTarget) Begin(ctx context.Context, show share.Presentation) (share.ViewLocation, error) {
	a, err := s.account.connected()
	if err != nil {
		return share.ViewLocation{}, err
	}
	s.target = &golive.Target{Publisher: a.Publisher()}
	return s.target.Begin(ctx, show)
}

func (s *goLiveTarget) End(ctx context.Context, show share.Presentation) error {
	return s.target.End(ctx, show)
}
