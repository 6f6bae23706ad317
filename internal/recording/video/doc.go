// Package video films sessions: one WebM file per task, with the steps as chapters.
//
// A film shows what viewers of the session would see, so secrets are covered before encoding. Private tasks are not
// filmed. While a person controls the page the film pauses, and a chapter marks the gap. A film ends early if there
// is no room for more. See [clank/videosource/webm] for the state after a crash.
package video
