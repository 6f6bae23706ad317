package dashboard

import (
	"cmp"
	"fmt"
	"net/http"

	"clank/dashboard/api"
)

// Transcripts stores the transcripts of calls, if the settings enable that. Names are those that the list returns.
type Transcripts interface {
	// Transcripts lists the transcripts that contain all words, newest first, with the matching lines.
	Transcripts(words string) ([]api.Transcript, error)
	// Transcript returns one transcript with all its lines; the error wraps [sessions.ErrNotFound].
	Transcript(name string) (api.Transcript, error)
	RemoveTranscript(name string) error
}

// transcriptsData is the data of the transcripts page.
type transcriptsData struct {
	Words string
	Kept  bool // transcripts are enabled in the settings
	Calls []api.Transcript
}

func (s *Server) transcriptsPage(w http.ResponseWriter, r *http.Request) error {
	words := r.URL.Query().Get("q")
	list, err := s.Transcripts.Transcripts(words)
	if err != nil {
		return failed("list the transcripts", err)
	}
	for i := range list {
		list[i].Place = s.callPlace(list[i])
	}
	data := transcriptsData{words, s.Settings.Current().Voice.KeepTranscripts, list}
	return s.page(w, r, "transcripts", pageData{Title: "Transcripts · clank", Data: data})
}

func (s *Server) transcriptPage(w http.ResponseWriter, r *http.Request) error {
	t, err := s.Transcripts.Transcript(r.PathValue("name"))
	if err != nil {
		return failed("read the transcript", err)
	}
	t.Place = s.callPlace(t)
	return s.page(w, r, "transcript", pageData{Title: "Transcript · clank", Data: t})
}

// callPlace returns the display name of a call's channel.
func (s *Server) callPlace(t api.Transcript) string {
	place := "Call page"
	if t.Guild != "" {
		place = cmp.Or(s.serverNames()[t.Guild], "Server "+t.Guild)
	}
	if name := s.Discord.ChannelName(t.Guild, t.Channel); name != "" {
		place += " · " + name
	}
	return place
}

// exportTranscript serves a transcript as text, for download.
func (s *Server) exportTranscript(w http.ResponseWriter, r *http.Request) error {
	t, err := s.Transcripts.Transcript(r.PathValue("name"))
	if err != nil {
		return failed("read the transcript", err)
	}
	setDownload(w, "text/plain; charset=utf-8", t.Name+".txt")
	for _, l := range t.Lines {
		fmt.Fprintf(w, "%s  %s: %s\n", l.At.Format("2006-01-02 15:04:05"), cmp.Or(l.By, "clank"), l.Text)
	}
	return nil
}

func (s *Server) deleteTranscript(w http.ResponseWriter, r *http.Request) error {
	return writeDone(w, "delete the transcript", s.Transcripts.RemoveTranscript(r.PathValue("name")))
}
