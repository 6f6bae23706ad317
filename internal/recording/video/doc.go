// Package video films sessions: each task that is wanted as one WebM file, with its steps as chapters.
//
// A film shows what others who watch would see, so secrets are covered before anything of it is encoded. Private tasks
// are not filmed, and nothing while a person works the page: that time is left out, and a chapter says so. A film ends
// early where there is no room for more of it. See [clank/videosource/webm] for what a crash leaves.
package video
