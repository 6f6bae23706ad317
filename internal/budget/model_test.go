package budget_test

import (
	"context"
	"errors"
	"fmt"
	"image"
	"math"
	"net"
	"strings"
	"testing"
	"time"

	"clank/internal/budget"
	"clank/internal/test/check"
	"clank/internal/test/computerusetest"
	"clank/llm"
)

// spent returns err as the error of an exhausted budget.
func spent(t *testing.T, err error) *llm.Error {
	t.Helper()
	var failed *llm.Error
	if !errors.As(err, &failed) || failed.Kind != llm.ErrBudgetSpent {
		t.Fatalf("got %v, want a spent budget", err)
	}
	return failed
}

func TestACallIsCountedOnceAtEveryLevel(t *testing.T) {
	b := newBench(t, nil)
	reply, err := b.ask(t.Context(), llm.Account{
		Task: "t", Session: "s", Guild: "g", User: "discord:1",
		Purpose: "browse",
	})
	check.Must(t, err)
	if reply.Usage.Calls != 1 || reply.Usage.USD != 0.0003 || reply.Usage.Unpriced {
		t.Errorf("got usage %+v, want it priced by the settings", reply.Usage)
	}
	want := budget.Amount{Calls: 1, Tokens: 300, Money: budget.Dollars(0.0003)}
	for _, k := range []budget.Key{
		{Level: budget.LevelTask, ID: "t"},
		{Level: budget.LevelSession, ID: "s"},
		{Level: budget.LevelUser, ID: "discord:1", Day: "2026-03-01"},
		{Level: budget.LevelGuild, ID: "g", Day: "2026-03-01"},
		{Level: budget.LevelDay, Day: "2026-03-01"},
	} {
		if got := b.sum(t, k); got.Amount != want || got.Held != (budget.Amount{}) {
			t.Errorf("%+v: got %s, held %s; want %s", k, got.Amount, got.Held, want)
		}
	}
}

func TestNothingIsSentWhenTheBudgetIsSpent(t *testing.T) {
	b := newBench(t, budget.Limits{budget.LevelUser: {Money: budget.Dollars(0.0008)}})
	ada := llm.Account{User: "discord:1"}
	for range 2 {
		check.Must(t, check.Err(b.ask(t.Context(), ada)))
	}
	_, err := b.ask(t.Context(), ada)
	got := spent(t, err)
	check.Equal(t, "message", got.Message, "budget spent: 0.0006 of 0.0008 USD for this person today")
	check.Contains(t, got.Hint, "one more call could take 0.0010 USD", budget.LimitKey+"user", "anew at midnight in UTC")
	check.Equal(t, "b.model.asked", b.model.asked, 2)
	for _, other := range []llm.Account{{User: "discord:2"}, {}} {
		if _, err := b.ask(t.Context(), other); err != nil {
			t.Errorf("%+v: got %v, want a call within the budget", other, err)
		}
	}
	b.now = b.now.Add(12 * time.Hour)
	check.Must(t, check.Err(b.ask(t.Context(), ada))) // the next day
}

func TestEachUnitIsALimitOfItsOwn(t *testing.T) {
	for name, limit := range map[string]budget.Amount{
		"1 of 1 calls":      {Calls: 1},
		"300 of 500 tokens": {Tokens: 500},
		"0.0003 of 0.0005":  {Money: budget.Dollars(0.0005)},
	} {
		b := newBench(t, budget.Limits{budget.LevelDay: limit})
		if _, err := b.ask(t.Context(), llm.Account{}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		_, err := b.ask(t.Context(), llm.Account{})
		if got := spent(t, err); !strings.Contains(got.Message, name) || !strings.HasSuffix(got.Message, "for today") {
			t.Errorf("got %q, want %q for today", got.Message, name)
		}
	}
}

func TestAFailedCallIsChargedAtLeastItsEstimate(t *testing.T) {
	told := llm.Usage{Calls: 1, InputTokens: 900, OutputTokens: 500}
	refused := func(kind llm.ErrorKind) error { return &llm.Error{Kind: kind, Status: 429} }
	tests := map[string]struct {
		usage llm.Usage
		err   error
		state budget.EntryState
		most  bool // it counts as estimated
		none  bool // it took nothing
	}{
		"refused by the vendor": {err: refused(llm.ErrRateLimited), state: budget.StateSettled, none: true},
		"never reached the vendor": {
			err:   &llm.Error{Kind: llm.ErrUnavailable, Err: &net.OpError{Op: "dial", Err: errors.New("refused")}},
			state: budget.StateSettled, none: true,
		},
		"cut off": {
			err: &llm.Error{Kind: llm.ErrCutOff, Status: 200}, state: budget.StateEstimated,
			most: true,
		},
		"not understood by the vendor": {
			err: &llm.Error{Kind: llm.ErrRejected, Status: 400}, state: budget.StateSettled, none: true,
		},
		"timed out": {err: refused(llm.ErrTimeout), state: budget.StateEstimated, most: true},
		"refused, with a part told": {
			usage: llm.Usage{InputTokens: 1}, err: refused(llm.ErrRateLimited),
			state: budget.StateEstimated, most: true,
		},
		"refused, with a cost told": {
			usage: llm.Usage{USD: 0.5}, err: refused(llm.ErrRateLimited),
			state: budget.StateEstimated, most: true,
		},
		"cut off with a part told": {
			usage: llm.Usage{InputTokens: 1}, err: refused(llm.ErrCutOff),
			state: budget.StateEstimated, most: true,
		},
		"an unknown failure":       {err: errors.New("boom"), state: budget.StateEstimated, most: true},
		"answered without a count": {state: budget.StateEstimated, most: true},
		"more than was estimated":  {usage: told, state: budget.StateSettled},
		"all of it cached": {
			usage: llm.Usage{InputTokens: 1400, CachedTokens: 1000, CacheWriteTokens: 400}, state: budget.StateSettled,
		},
	}
	for name, tt := range tests {
		b := newBench(t, nil)
		b.model.answer = using(tt.usage, tt.err)
		if _, err := b.ask(t.Context(), llm.Account{}); !errors.Is(err, tt.err) {
			t.Errorf("%s: got %v, want the model's own error", name, err)
		}
		got := b.last(t)
		if got.State != tt.state || got.Amount.Calls != 1 {
			t.Errorf("%s: got %s, %s; want one call, %s", name, got.Amount, got.State, tt.state)
		}
		switch tokens := got.Amount.Tokens; {
		case tt.none && (tokens != 0 || got.Amount.Money != 0), tt.most && tokens < 1000, !tt.none && !tt.most &&
			tokens != 1400:
			t.Errorf("%s: got %s", name, got.Amount)
		}
	}
}

func TestATryThatMayHaveCostSomethingIsACallOfItsOwn(t *testing.T) {
	lost := &llm.Error{Kind: llm.ErrUnavailable, Message: "it closed the connection without an answer"}
	refused := &llm.Error{Kind: llm.ErrRateLimited, Status: 429}
	for name, tt := range map[string]struct {
		before error // of the tries before the last
		limit  int64
		tries  int
		calls  int64
		spent  bool
	}{
		"lost":              {before: lost, tries: 3, calls: 3},
		"refused":           {before: refused, tries: 3, calls: 1},
		"lost, no more":     {before: lost, limit: 2, tries: 2, calls: 2, spent: true},
		"refused, no more":  {before: refused, limit: 1, tries: 3, calls: 1},
		"lost at the limit": {before: lost, limit: 3, tries: 3, calls: 3},
	} {
		b := newBench(t, budget.Limits{budget.LevelDay: {Calls: tt.limit}})
		tries, settled := 0, 0
		b.ledger.Fail = func(method string) error {
			if method == "Settle" {
				settled++
			}
			return nil
		}
		b.model.answer = func(ctx context.Context, _ llm.Request) (llm.Reply, error) {
			for tries = 1; tries < 3; tries++ {
				if err := llm.ApproveRetry(ctx, tt.before); err != nil {
					return llm.Reply{}, err
				}
			}
			return llm.Reply{Usage: llm.Usage{InputTokens: 200, OutputTokens: 100}}, nil
		}
		_, err := b.ask(t.Context(), llm.Account{})
		if tt.spent {
			spent(t, err)
		} else if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		got := b.today(t)
		if tries != tt.tries || got.Amount.Calls != tt.calls || got.Held != (budget.Amount{}) {
			t.Errorf("%s: %d tries, %s, held %s; want %d tries and %d calls", name, tries, got.Amount, got.Held, tt.tries,
				tt.calls)
		}
		if settled != int(tt.calls) {
			t.Errorf("%s: settled %d times, want once for each of %d calls", name, settled, tt.calls)
		}
	}
}

func TestImplausibleUsageCountsAsEstimated(t *testing.T) {
	for name, u := range map[string]llm.Usage{
		"less than no input":         {InputTokens: -1_000_000, OutputTokens: 10},
		"less than no output":        {InputTokens: 10, OutputTokens: math.MinInt},
		"more cached than was read":  {InputTokens: 10, CachedTokens: 1_000_000_000},
		"more written than was read": {InputTokens: 10, CacheWriteTokens: math.MaxInt},
		"more of both than was read": {InputTokens: 10, CachedTokens: 6, CacheWriteTokens: 6},
		"less than no reasoning":     {InputTokens: 10, OutputTokens: 10, ReasoningTokens: -1},
		"no number of dollars":       {InputTokens: 10, USD: math.NaN()},
		"dollars given back":         {InputTokens: 10, USD: -5},
		"dollars for no tokens":      {USD: 0.5},
	} {
		b := newBench(t, nil)
		b.model.answer = using(u, nil)
		reply, err := b.ask(t.Context(), llm.Account{})
		got := b.last(t)
		if err != nil || got.State != budget.StateEstimated || got.Amount.Calls != 1 || got.Amount.Tokens < 1000 ||
			got.Amount.Money < budget.Dollars(0.001) {
			t.Errorf("%s: got %s, %s, %v; want as estimated", name, got.Amount, got.State, err)
		}
		if r := reply.Usage; r.InputTokens < 0 || r.OutputTokens < 0 || !(r.USD >= 0) {
			t.Errorf("%s: it is told on as %+v", name, r)
		}
	}
}

func TestOverflowingUsageStillExhaustsTheBudget(t *testing.T) {
	b := newBench(t, budget.Limits{budget.LevelDay: {Money: budget.Dollars(1)}})
	b.rules.Prices["test:dollar"] = llm.Price{Input: 1e6, Cached: 1e6, Output: 1e6}
	far := llm.Usage{InputTokens: math.MaxInt, OutputTokens: math.MaxInt, USD: math.Inf(1)}
	b.model.answer = using(far, nil)
	for range 20 {
		b.rules.Limits = nil
		check.Must(t, check.Err(b.ask(t.Context(), llm.Account{})))
		b.rules.Limits = budget.Limits{budget.LevelDay: {Money: budget.Dollars(1)}}
		_, err := b.ask(t.Context(), llm.Account{})
		spent(t, err)
	}
	if got := b.today(t).Amount; got.Money < 20*budget.Dollars(1e6) || got.Tokens <= 0 {
		t.Errorf("got %s", got)
	}
}

func TestACancelledCallCountsAsEstimatedAndIsLetGo(t *testing.T) {
	b := newBench(t, nil)
	ctx, stop := context.WithCancelCause(t.Context())
	why := errors.New("stopped by ada")
	b.model.answer = func(ctx context.Context, _ llm.Request) (llm.Reply, error) {
		if got := b.today(t); got.Held.Calls != 1 || got.Held.Tokens < 1000 {
			t.Errorf("while it runs %s is held, want the most it may take", got.Held)
		}
		stop(why)
		return llm.Reply{}, context.Cause(ctx)
	}
	check.Fails(t, check.Err(b.ask(ctx, llm.Account{})), why)
	if got := b.today(t); got.Held != (budget.Amount{}) || got.Amount.Tokens < 1000 {
		t.Errorf("got %s, held %s", got.Amount, got.Held)
	}
	check.Fails(t, check.Err(b.ask(ctx, llm.Account{})), why)
	check.Equal(t, "b.model.asked", b.model.asked, 1)
}

func TestAPanicOfAModelLetsGoOfItsBudget(t *testing.T) {
	b := newBench(t, nil)
	b.model.answer = func(context.Context, llm.Request) (llm.Reply, error) { panic("broken") }
	func() {
		defer func() { _ = recover() }()
		_, _ = b.ask(t.Context(), llm.Account{})
	}()
	if got := b.last(t); got.State != budget.StateEstimated {
		t.Errorf("got state %s, want estimated", got.State)
	}
}

func TestAModelOfUnknownPriceNeedsAPriceOrALimitInTokens(t *testing.T) {
	money, tokens := budget.Amount{Money: budget.Dollars(1)}, budget.Amount{Tokens: 10_000}
	tests := map[string]struct {
		limits  budget.Limits
		refused bool
	}{
		"no limit":                        {nil, false},
		"money":                           {budget.Limits{budget.LevelDay: money}, true},
		"tokens":                          {budget.Limits{budget.LevelDay: tokens}, false},
		"money of all, tokens of a task":  {budget.Limits{budget.LevelDay: money, budget.LevelTask: tokens}, false},
		"tokens of a guild it is not for": {budget.Limits{budget.LevelDay: money, budget.LevelGuild: tokens}, true},
	}
	for name, tt := range tests {
		b := newBench(t, tt.limits)
		b.model.name = "compatible:mystery"
		b.model.answer = using(llm.Usage{Calls: 1, InputTokens: 10, OutputTokens: 10, Unpriced: true}, nil)
		_, err := b.ask(t.Context(), llm.Account{Task: "t"})
		if !tt.refused {
			if got := b.today(t); err != nil || got.Unpriced != 1 || got.Amount.Tokens != 20 {
				t.Errorf("%s: %v, got %+v; want one call marked as unpriced", name, err, got)
			}
			continue
		}
		var failed *llm.Error
		if !errors.As(err, &failed) || failed.Kind != llm.ErrRejected || b.model.asked != 0 {
			t.Errorf("%s: got %v, want it refused", name, err)
			continue
		}
		for _, want := range []string{budget.PricesKey, "compatible:mystery 1.25"} {
			if !strings.Contains(failed.Hint, want) {
				t.Errorf("%s: the hint %q lacks %q", name, failed.Hint, want)
			}
		}
	}
}

func TestATaskMayAllowItselfLessThanTheSettings(t *testing.T) {
	for name, c := range map[string]struct {
		own, set float64
		want     string
	}{
		"less than is set":   {0.002, 5, "budget spent: 0.0020 of 0.0020 USD for this task"},
		"nothing is set":     {0.002, 0, "budget spent: 0.0020 of 0.0020 USD for this task"},
		"more than may be":   {5, 0.002, "budget spent: 0.0020 of 0.0020 USD for this task"},
		"nothing of its own": {0, 0.002, "budget spent: 0.0020 of 0.0020 USD for this task"},
	} {
		b := newBench(t, budget.Limits{budget.LevelTask: {Money: budget.Dollars(c.set)}})
		b.model.answer = using(llm.Usage{InputTokens: 2000}, nil)
		a := llm.Account{Task: "t", MaxUSD: c.own}
		if _, err := b.ask(t.Context(), a); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		_, err := b.ask(t.Context(), a)
		got := spent(t, err)
		check.Lacks(t, got.Hint, "one more call")
		if asked := strings.Contains(got.Hint, "was asked for with"); got.Message != c.want || asked != (c.own == 0.002) {
			t.Errorf("%s: got %q (%s), want %q", name, got.Message, got.Hint, c.want)
		}
		if _, err := b.ask(t.Context(), llm.Account{Task: "u", MaxUSD: c.own}); err != nil {
			t.Errorf("%s: another task pays for the first: %v", name, err)
		}
	}
}

func TestAModelOfUnknownPriceStopsWhereTheMoneyIsSpent(t *testing.T) {
	b := newBench(t, budget.Limits{budget.LevelDay: {Money: budget.Dollars(0.002), Tokens: 100_000}})
	b.model.answer = using(llm.Usage{InputTokens: 2000}, nil)
	check.Must(t, check.Err(b.ask(t.Context(), llm.Account{})))
	b.model.name = "compatible:mystery"
	_, err := b.ask(t.Context(), llm.Account{})
	check.Equal(t, "message", spent(t, err).Message, "budget spent: 0.0020 of 0.0020 USD for today")
}

func TestAModelThatIsFreeNeedsNoPriceAndNoTokens(t *testing.T) {
	b := newBench(t, budget.Limits{budget.LevelDay: {Money: 1, Tokens: 1, Calls: 1}})
	b.model.name, b.model.answer = "plain:steps", using(llm.Usage{Calls: 1}, nil)
	check.Must(t, check.Err(b.ask(t.Context(), llm.Account{})))
	check.Equal(t, "amount", b.today(t).Amount, budget.Amount{Calls: 1})
	check.Equal(t, "state", b.last(t).State, budget.StateSettled)
	_, err := b.ask(t.Context(), llm.Account{})
	spent(t, err)
}

func TestALedgerThatCannotBeWrittenLetsNothingThrough(t *testing.T) {
	b := newBench(t, nil)
	broken := errors.New("disk full")
	b.ledger.Fail = func(method string) error {
		if method == "Reserve" {
			return broken
		}
		return nil
	}
	if _, err := b.ask(t.Context(), llm.Account{}); !errors.Is(err, broken) || b.model.asked != 0 {
		t.Errorf("got %v after %d calls, want no call and the ledger's error", err, b.model.asked)
	}
	b.ledger.Fail = func(method string) error {
		if method == "Settle" {
			return broken
		}
		return nil
	}
	check.Must(t, check.Err(b.ask(t.Context(), llm.Account{})))
	b.ledger.Fail = func(string) error { return broken }
	check.Fails(t, b.keeper.Check(t.Context(), minute), broken)
	b.ledger.Fail = nil
	if got := b.today(t); got.Held.Tokens < 1000 {
		t.Errorf("got held %s, want the estimate", got.Held)
	}
}

func TestWhereWritingToTheCacheCostsAllInputMayBeWritten(t *testing.T) {
	for model, price := range map[string]float64{
		"anthropic:claude-test": 5, "openai:gpt-5.6": 5,
		"compatible:openai/gpt-5.6-terra": 5, "openai:gpt-5.5": 4,
	} {
		b := newBench(t, nil)
		b.model.name, b.model.answer = model, using(llm.Usage{}, nil)
		b.rules.Prices = map[string]llm.Price{model: {Input: 4}}
		check.Must(t, check.Err(b.ask(t.Context(), llm.Account{})))
		got := b.last(t).Amount
		if want := budget.Dollars(float64(got.Tokens-1000) * price / 1e6); got.Money != want {
			t.Errorf("%s: got %s for %d tokens, want %s", model, got.Money, got.Tokens, want)
		}
	}
}

func TestAnEstimateLearnsFromTheCallBefore(t *testing.T) {
	b := newBench(t, nil)
	for read, want := range map[int]int64{
		502:  4008/4*11/10 + 1, // a quarter of what was estimated, and a tenth more to be safe
		2008: 4008,
		9000: 4008,
		0:    4008, // the server did not say
	} {
		m := b.keeper.Model(b.model)
		for i, u := range []llm.Usage{{InputTokens: read}, {}} {
			b.model.answer = using(u, nil)
			req := llm.Request{System: strings.Repeat("x", (i+1)*4000), MaxTokens: 10}
			check.Must(t, check.Err(m.Generate(t.Context(), req, nil)))
		}
		check.Equal(t, fmt.Sprintf("estimate after %d tokens", read), b.last(t).Amount.Tokens, want+10)
	}
}

func TestAnAnswerIsAsLongAsTheBudgetAllows(t *testing.T) {
	for name, tt := range map[string]struct {
		limit         int64
		longest, want int // 0: no call is made
	}{
		"a bounded one":               {8 + 1000, 4096, 1000},
		"an unbounded one":            {8 + 1000, 0, 1000},
		"as much as it may be":        {8 + 4096, 4096, 4096},
		"as little as is of use":      {8 + 256, 4096, 256},
		"less than is of use":         {8 + 255, 4096, 0},
		"less than the request takes": {4, 4096, 0},
	} {
		b := newBench(t, budget.Limits{budget.LevelDay: {Tokens: tt.limit}})
		got := 0
		b.model.answer = func(_ context.Context, req llm.Request) (llm.Reply, error) {
			got = req.MaxTokens
			return llm.Reply{}, nil
		}
		_, err := b.keeper.Model(b.model).Generate(t.Context(), llm.Request{MaxTokens: tt.longest}, nil)
		if check.Equal(t, name, got, tt.want); (err == nil) != (tt.want > 0) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestEstimatesGrowWithTheRequest(t *testing.T) {
	b := newBench(t, nil)
	estimate := func(req llm.Request, caps llm.Caps) int64 {
		b.model.caps, b.model.answer = caps, using(llm.Usage{}, nil)
		check.Must(t, check.Err(b.keeper.Model(b.model).Generate(t.Context(), req, nil)))
		return b.last(t).Amount.Tokens
	}
	part := func(p llm.Part) llm.Request {
		return llm.Request{MaxTokens: 10, Messages: []llm.Message{{Role: llm.RoleUser, Parts: []llm.Part{p}}}}
	}
	long := strings.Repeat("word ", 1000)[1:] // an odd number of bytes: 2500 tokens
	seen, err := computerusetest.Picture(image.Pt(200, 100), 1)
	check.Must(t, err)
	for name, tt := range map[string]struct {
		req  llm.Request
		want int64 // 8 for each part, message and tool, and for the request
	}{
		"nothing":         {llm.Request{MaxTokens: 10}, 8 + 10},
		"system":          {llm.Request{MaxTokens: 10, System: long}, 8 + 2500 + 10},
		"person":          {llm.Request{MaxTokens: 10, EndUser: long}, 8 + 2500 + 10},
		"tool":            {llm.Request{MaxTokens: 10, Tools: []llm.Tool{{Name: "a", Description: long}}}, 8 + 8 + 2501 + 10},
		"tool's name":     {llm.Request{MaxTokens: 10, Tools: []llm.Tool{{Name: long}}}, 8 + 8 + 2500 + 10},
		"tool's schema":   {llm.Request{MaxTokens: 10, Tools: []llm.Tool{{Schema: []byte(long)}}}, 8 + 8 + 2500 + 10},
		"text":            {part(llm.Part{Text: long}), 3*8 + 2500 + 10},
		"call":            {part(llm.Part{Call: &llm.ToolCall{ID: "1", Name: "ab", Input: []byte(long)}}), 3*8 + 2502 + 10},
		"malformed call":  {part(llm.Part{Call: &llm.ToolCall{ID: "1", Malformed: long}}), 3*8 + 2501 + 10},
		"result":          {part(llm.Part{Result: &llm.ToolResult{ID: "1", Text: long}}), 3*8 + 2501 + 10},
		"opaque":          {part(llm.Part{Opaque: &llm.Opaque{Data: []byte(long)}}), 3*8 + 2500 + 10},
		"picture":         {part(llm.Part{Image: &llm.Image{Data: seen}}), 3*8 + 300 + 200*100/400 + 10},
		"unknown picture": {part(llm.Part{Image: &llm.Image{Data: []byte("no picture")}}), 3*8 + 10_000 + 10},
		"result's pictures": {
			part(llm.Part{Result: &llm.ToolResult{Images: []llm.Image{{Data: seen}, {Data: seen}}}}), 3*8 + 700 + 10,
		},
	} {
		check.Equal(t, name, estimate(tt.req, llm.Caps{}), tt.want)
	}
	if got := estimate(llm.Request{System: long, MaxTokens: 10}, llm.Caps{ContextSize: 100}); got != 110 {
		t.Errorf("got %d tokens, want no more than the model can read, and its answer", got)
	}
	if got := estimate(llm.Request{System: long}, llm.Caps{ContextSize: 100}); got != 200 {
		t.Errorf("got %d tokens for an answer without a bound, want what the model can read, twice", got)
	}
	if got := estimate(llm.Request{}, llm.Caps{}); got < 100_000 {
		t.Errorf("got %d tokens for an answer without a bound, want the longest there is", got)
	}
}
