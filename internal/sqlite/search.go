package sqlite

import (
	"context"
	"slices"
	"strings"
	"unicode"

	"clank/sessions"
)

// maxSearchWords is the number of words of a search that are used.
const maxSearchWords = 10

// matchOf returns the FTS5 query for a search: all words, each also as a prefix. It is empty if there are no words.
func matchOf(text string) string {
	var match []string
	for word := range strings.FieldsSeq(strings.ReplaceAll(text, `"`, " ")) {
		if len(match) < maxSearchWords && strings.ContainsFunc(word, isWordRune) {
			match = append(match, `"`+word+`"*`)
		}
	}
	return strings.Join(match, " ")
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }

// TaskFacets implements [sessions.HistoryStore].
func (db *DB) TaskFacets(ctx context.Context, by *sessions.Sight) (f sessions.TaskFacets, err error) {
	var w conditions
	w.seenBy(by)
	add := func(to *[]string, value string) {
		if value != "" && !slices.Contains(*to, value) {
			*to = append(*to, value)
		}
	}
	err = db.query(ctx, "read what tasks differ in", func(scan func(...any) error) error {
		var guild, runtime, model string
		var p sessions.Person
		var last int64
		if err := scan(&guild, &p.ID, &p.Name, &runtime, &model, &last); err != nil {
			return err
		}
		add(&f.Guilds, guild)
		add(&f.Runtimes, runtime)
		add(&f.Models, model)
		if p.ID != "" && !slices.ContainsFunc(f.People, func(known sessions.Person) bool { return known.ID == p.ID }) {
			f.People = append(f.People, p)
		}
		return nil
	}, "SELECT guild, user, user_name, runtime, model, max(asked) AS last FROM task "+w.String()+
		" GROUP BY guild, user, runtime, model ORDER BY last DESC", w.args...)
	return f, err
}

// LastSteps implements [sessions.HistoryStore].
func (db *DB) LastSteps(ctx context.Context, tasks []string) (map[string]sessions.LastStep, error) {
	found := make(map[string]sessions.LastStep, len(tasks))
	if len(tasks) == 0 {
		return found, nil
	}
	var w conditions
	addIn(&w, "step.task", tasks)
	err := db.query(ctx, "read how far tasks have come", func(scan func(...any) error) error {
		var task string
		var n int
		var l sessions.LastStep
		err := scan(&task, &l.Label, &n, &l.View)
		found[task] = l
		return err
	}, "SELECT task, label, max(n), coalesce((SELECT max(n) FROM view WHERE view.task = step.task), 0) FROM step "+
		w.String()+" GROUP BY task", w.args...)
	return found, err
}
