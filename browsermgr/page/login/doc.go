// Package login fills logins into the pages that they are for, and finds what pictures of those pages must not show.
//
// A secret goes to an isolated world of one document, after Chromium named the frame's origin and the document agreed.
// The script looks once more when it writes. Fields for new passwords, fields that a person could not see, and forms
// that lead elsewhere are refused. Pictures cover a field as long as it holds anything, and each piece of a password
// that is spread over fields and texts. While a document holds the secret, it can be neither shown, copied nor dragged
// out, and leaving the document empties the field. The package keeps no logins, and asks nobody.
package login
