package server

import "path"

// homePart says what becomes of a file or folder of the home.
type homePart struct {
	name    string // a pattern of [path.Match]
	backup  backupRule
	expires bool // its files are removed when they are older than the history that is kept, and to make room
	people  peopleRule
}

// backupRule says when a part of the home is in a backup.
type backupRule int

const (
	backupAlways     backupRule = iota
	backupRecordings            // only with recordings: films and other records of tasks, pages and people
	backupKeys                  // only in an encrypted backup: it decrypts what is in the home
	backupNever                 // it belongs to the running process, or is copied in another way
)

// peopleRule says how [SubjectData] finds what a part of the home holds of a person or a server.
type peopleRule int

const (
	peopleNone   peopleRule = iota // it holds nothing of people, or what is the operator's
	peoplePlaces                   // in folders that are named after places; some files by their task as well
	peopleInside                   // one by one: rows, lines, entries, or by the id of a task
)

const (
	browserFolder   = "browser"
	downloadsFolder = "downloads"
	picturesFolder  = "pictures"
	tracesFolder    = "traces"
	lentFolder      = "lent" // files of browsers on other machines
	recordsFolder   = "runs"
	stopWordsFolder = "stopwords"
)

// homeParts lists what may be in the home, as docs/settings.md does. What is not listed is backed up and stays.
var homeParts = []homePart{
	{name: "clank.db*", backup: backupNever, people: peopleInside},
	{name: "clank.version"},
	{name: browserFolder, people: peoplePlaces},
	{name: downloadsFolder, expires: true, people: peoplePlaces},
	{name: inboundFolder, expires: true, people: peoplePlaces},
	{name: picturesFolder, backup: backupRecordings, expires: true, people: peoplePlaces},
	{name: tracesFolder, backup: backupRecordings, expires: true, people: peoplePlaces},
	{name: filmDir, backup: backupRecordings, expires: true, people: peoplePlaces},
	{name: recordsFolder, backup: backupRecordings, people: peopleInside}, // a record expires as a whole, with its task
	{name: lentFolder, backup: backupRecordings, expires: true},
	{name: transcriptDir, expires: true, people: peopleInside},
	{name: "uploads"},
	{name: "scripts"},
	{name: stopWordsFolder, backup: backupNever},
	{name: "vault.json", people: peopleInside},
	{name: "tokens.json", people: peopleInside},
	{name: "vault.key", backup: backupKeys},
	{name: "browser.key", backup: backupKeys},
	{name: unfinishedFile, backup: backupNever, people: peopleInside},
	{name: discordSessionsFile, backup: backupNever},
	{name: "server.json", backup: backupNever},
	{name: "control.json", backup: backupNever},
	{name: ownerFileName, backup: backupNever},
	{name: "*.lock", backup: backupNever},
	{name: ".*", backup: backupNever}, // being written
}

// findHomePart returns the row of a file or folder of the home; what is not listed has an empty one.
func findHomePart(name string) homePart {
	for _, p := range homeParts {
		if ok, _ := path.Match(p.name, name); ok { // the pattern is valid
			return p
		}
	}
	return homePart{}
}
