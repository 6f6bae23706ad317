package main

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"clank/internal/test/check"
	"clank/internal/test/discordtest"
)

// upgradeFixture is a program that is replaced while people use it.
type upgradeFixture struct {
	*drainFixture
	guild discordtest.Guild
	with  discordtest.Message // has buttons
	form  discordtest.Interaction

	mu   sync.Mutex
	sent []usedDiscord

	unanswered string // what is said so far of one that is not done
}

// usedDiscord is something that somebody has done in Discord once.
type usedDiscord struct {
	kind  string
	by    discordtest.User
	id    string // of the interaction or message
	token string // in the answer, if it is a task
}

// use does the nth thing, as somebody who does nothing else.
func (f *upgradeFixture) use(n int) error {
	u := usedDiscord{by: f.CreateUser(fmt.Sprintf("user%d", n))}
	f.AddMember(f.guild, u.by)
	var it discordtest.Interaction
	var err error
	switch n % 5 {
	case 0:
		u.kind = "command"
		it, err = f.SlashCommand(f.room, u.by, "clank sessions", nil)
	case 1:
		u.kind = "mention"
		var m discordtest.Message
		m, err = f.SendMessage(f.room, u.by, "<@"+f.bot.ID+"> hello")
		u.id = m.ID
	case 2:
		u.kind = "button"
		it, err = f.PressButton(f.with, u.by, f.button("Continue"))
	case 3:
		u.kind, u.by = "form", f.ada
		it, err = f.SubmitModal(f.form, map[string]string{"name": fmt.Sprintf("script-%d", n)})
	case 4:
		if n%25 != 4 { // they take a while
			return nil
		}
		u.kind, u.token = "task", fmt.Sprintf("ferry number %d leaves", n)
		it, err = f.SlashCommand(f.room, u.by, "clank browse",
			discordtest.Args{"task": fmt.Sprintf("open %s/quick?%d, read", f.site, n)})
	}
	if u.id == "" {
		u.id = it.ID
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sent = append(f.sent, u)
	return err
}

// button returns the id of a button of the message.
func (f *upgradeFixture) button(label string) string {
	for _, row := range f.with.Components {
		for _, c := range row.Components {
			if c.Label == label {
				return c.CustomID
			}
		}
	}
	f.t.Fatalf("there is no button %q", label)
	return ""
}

// answers counts how often something was answered: at once, or by a message afterwards, which is a direct one where
// the answer is private.
func (f *upgradeFixture) answers(u usedDiscord) (n int) {
	if it, ok := f.Interaction(u.id); ok && it.Answer != 0 {
		refused := strings.Contains(it.Text(), "tasks for one server is waiting") // on a slow machine
		if u.token == "" || refused {
			n++
		}
	}
	for _, m := range f.Messages(f.room) {
		late := u.by != f.ada && strings.Contains(m.Content, "<@"+u.by.ID+">: clank was being restarted")
		reply := m.Reference != nil && m.Reference.MessageID == u.id
		task := u.token != "" && strings.Contains(m.Content, u.token)
		if m.Author.ID == f.bot.ID && (late || reply || task) {
			n++
		}
	}
	if u.by != f.ada {
		n += len(f.Messages(f.OpenDM(u.by, f.bot)))
	}
	return n
}

// tally says of each kind how often it was used, left without an answer, and answered more than once.
func (f *upgradeFixture) tally() (sent, lost, twice map[string]int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	sent, lost, twice = map[string]int{}, map[string]int{}, map[string]int{}
	late := strings.Count(strings.Join(f.texts(), "\n"), "<@"+f.ada.ID+">: clank was being restarted") +
		len(f.Messages(f.OpenDM(f.ada, f.bot)))
	for _, u := range f.sent {
		sent[u.kind]++
		n := f.answers(u)
		if u.by == f.ada { // who sends all forms
			late -= 1 - n
			continue
		}
		switch {
		case n == 0:
			lost[u.kind]++
			if it, ok := f.Interaction(u.id); ok {
				f.unanswered = it.Text()
			}
		case n > 1:
			twice[u.kind]++
		}
	}
	if late < 0 {
		lost["form"] = -late
	} else if late > 0 {
		twice["form"] = late
	}
	return sent, lost, twice
}

// The gateway is resumed by the program that comes after, so nobody's command, mention, button or form goes unanswered
// while one takes the place of another.
func TestNothingIsLostWhileTheProgramIsReplaced(t *testing.T) {
	inHalf(t, true)
	t.Parallel()
	f := &upgradeFixture{drainFixture: newDrainFixture(t)}
	p := f.start("300")
	f.begin()

	var people sync.WaitGroup
	quiet := make(chan struct{})
	people.Go(func() {
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for n := 0; ; n++ {
			if err := f.use(n); err != nil {
				t.Error(err)
				return
			}
			select {
			case <-quiet:
				return
			case <-tick.C:
			}
		}
	})
	long := f.browse("open " + f.site + ", read")
	for n := range 3 {
		f.awaitAsked()
		if n == 0 { // an answer that comes so late that Discord does not take it any more
			slow := f.HoldNext(discordtest.RouteRespond)
			<-slow.Arrived()
			f.Advance(4 * time.Second)
			slow.Release()
		}
		p.interrupt(t)
		p.exitCode(t)
		p = startServer(t, f.home, f.environ)
	}
	f.awaitAsked()
	close(quiet)
	people.Wait()
	close(f.answer)
	f.says(long, "10:40")
	if got := strings.Count(strings.Join(f.texts(), "\n"), "10:40"); got != 1 {
		t.Errorf("the answer to the long task is there %d times", got)
	}
	err := f.Wait(testDeadline(t), "all answers", func() bool {
		_, lost, _ := f.tally()
		return len(lost) == 0
	})
	sent, lost, twice := f.tally()
	total := 0
	for n := range maps.Values(sent) {
		total += n
	}
	t.Logf("upgrade: restarts=3 sent=%d (%v) lost=%v twice=%v", total, sent, lost, twice)
	if err != nil || len(lost)+len(twice) > 0 || len(slices.Collect(maps.Keys(sent))) < 5 {
		t.Errorf("sent %v, lost %v, answered more than once %v: %v; of one it says %q", sent, lost, twice, err, f.unanswered)
	}
}

// begin has ada do a task, whose answer has buttons, and open a form.
func (f *upgradeFixture) begin() {
	f.t.Helper()
	first := f.browse("open " + f.site + "/quick?first, read")
	f.says(first, "ferry number first leaves")
	it, _ := f.Interaction(first.ID)
	f.with = *it.Original
	f.guild = discordtest.Guild{ID: f.room.GuildID}
	opened, err := f.PressButton(f.with, f.ada, f.button("Save as script"))
	check.Must(f.t, err)
	f.form, err = f.WaitAnswer(testDeadline(f.t), opened)
	check.Must(f.t, err)
}

// serveFerry answers with a page that tells the query.
func serveFerry(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = fmt.Fprintf(w, "<!doctype html><title>Ferry</title><link rel=icon href=data:,><p>The ferry number %s "+
		"leaves.</p>", r.URL.RawQuery)
}
