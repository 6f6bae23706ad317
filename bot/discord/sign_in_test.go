package discord_test

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"clank/bot/discord"
	"clank/internal/test/check"
	"clank/internal/test/discordtest"
)

// signInDesk is an application with which people sign in.
func signInDesk(t *testing.T) (*discordtest.Server, discordtest.Bot, *discord.SignIn) {
	t.Helper()
	s := discordtest.StartTest(t, discordtest.Config{})
	app := s.CreateBot("clank", "token of the bot")
	s.SetUpOAuth(app, "s3cret-of-the-client", "https://clank.test/signed-in")
	application := func() (string, string) { return app.ID, "s3cret-of-the-client" }
	return s, app, &discord.SignIn{Base: s.URL, Application: application}
}

func TestSignInTellsWhoHasAgreed(t *testing.T) {
	t.Parallel()
	s, app, in := signInDesk(t)
	ada := s.CreateUser("ada")
	state, challenge := in.Begin()
	got, err := in.Finish(t.Context(), state, s.Authorize(app, ada, challenge), "")
	if err != nil || got.ID != ada.ID || got.Name != "ada" || !strings.HasPrefix(got.Token, "bearer-") {
		t.Errorf("got %+v, error %v", got, err)
	}
}

func TestSignInRefusesWhatWasNotAgreedToForIt(t *testing.T) {
	t.Parallel()
	s, app, in := signInDesk(t)
	ada := s.CreateUser("ada")
	used, challenge := in.Begin()
	check.Must(t, check.Err(in.Finish(t.Context(), used, s.Authorize(app, ada, challenge), "")))
	_, othersChallenge := in.Begin()
	_, elsewhere := new(discord.SignIn).Begin()
	for name, tc := range map[string]struct {
		state func() (state, code string)
		want  error
	}{
		"a state that was used": {
			func() (string, string) { return used, s.Authorize(app, ada, challenge) },
			discord.ErrStateInvalid,
		},
		"a state of another run": {func() (string, string) {
			state, challenge := new(discord.SignIn).Begin()
			return state, s.Authorize(app, ada, challenge)
		}, discord.ErrStateInvalid},
		"a changed state": {func() (string, string) {
			state, challenge := in.Begin()
			return "B" + state[1:], s.Authorize(app, ada, challenge)
		}, discord.ErrStateInvalid},
		"no state": {func() (string, string) { return "", s.Authorize(app, ada, challenge) }, discord.ErrStateInvalid},
		"a forged code": {func() (string, string) {
			state, _ := in.Begin()
			return state, "code-123"
		}, discord.ErrCodeRefused},
		"a code of another sign-in": {func() (string, string) {
			state, _ := in.Begin()
			return state, s.Authorize(app, ada, othersChallenge)
		}, discord.ErrCodeRefused},
		"a code that an attacker asked for": {func() (string, string) {
			state, _ := in.Begin()
			return state, s.Authorize(app, ada, elsewhere)
		}, discord.ErrCodeRefused},
	} {
		t.Run(name, func(t *testing.T) {
			state, code := tc.state()
			if got, err := in.Finish(t.Context(), state, code, ""); !errors.Is(err, tc.want) {
				t.Errorf("got %+v, error %v, want %v", got, err, tc.want)
			}
		})
	}
}

func TestAStateIsGoodForOneOfMany(t *testing.T) {
	t.Parallel()
	s, app, in := signInDesk(t)
	ada := s.CreateUser("ada")
	state, challenge := in.Begin()
	var all sync.WaitGroup
	results := make(chan error, 8)
	for range cap(results) {
		code := s.Authorize(app, ada, challenge)
		all.Go(func() { results <- check.Err(in.Finish(t.Context(), state, code, "")) })
	}
	all.Wait()
	good := 0
	for range cap(results) {
		if err := <-results; err == nil {
			good++
		} else if !errors.Is(err, discord.ErrStateInvalid) {
			t.Error(err)
		}
	}
	check.Equal(t, "are signed in", good, 1)
}

func TestAFailedSignInTellsNoSecret(t *testing.T) {
	t.Parallel()
	s, app, in := signInDesk(t)
	in.Application = func() (string, string) { return app.ID, "another secret" }
	state, challenge := in.Begin()
	code := s.Authorize(app, s.CreateUser("ada"), challenge)
	_, err := in.Finish(t.Context(), state, code, "")
	check.Fails(t, err, nil, "401 invalid_client")
	in.Base = "http://127.0.0.1:1"
	state, _ = in.Begin()
	_, away := in.Finish(t.Context(), state, code, "")
	for _, err := range []error{err, away} {
		check.Lacks(t, err.Error(), "another secret", code)
	}
}
