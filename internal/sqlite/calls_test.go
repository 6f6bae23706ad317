package sqlite_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestWhenCallsWereBegunIsKeptOverARestartForADay(t *testing.T) {
	path := filepath.Join(t.TempDir(), "clank.db")
	db := open(t, path)
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	for _, hours := range []int{-30, -20, -1} {
		at := now.Add(time.Duration(hours) * time.Hour)
		if err := db.RecordCall(t.Context(), at, now.Add(-24*time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	db = open(t, path)
	for _, tc := range []struct {
		since time.Time
		want  []int // hours before
	}{
		{now.Add(-48 * time.Hour), []int{20, 1}},
		{now.Add(-5 * time.Hour), []int{1}},
		{now, nil},
	} {
		all, err := db.CallsSince(t.Context(), tc.since)
		if err != nil {
			t.Fatal(err)
		}
		var got []int
		for _, at := range all {
			got = append(got, int(now.Sub(at).Hours()))
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("since %v (-want +got):\n%s", tc.since, diff)
		}
	}
}
