// Package login fills logins into the pages that they are for, and finds what pictures of those pages must not show.
//
// A secret is handed to an isolated world of one document, made after Chromium has told the frame's origin and only if the
// document itself says the same; the script there looks once more at the moment of writing. No other frame gets it, no
// protocol message but that one carries it, and nothing is told of it. Fields for new passwords and one-time codes, fields
// that a person could not see, and forms that send their fields elsewhere are refused.
//
// The package keeps no logins, does not decide who may use one, and does not ask anybody.
package login
