// Package vault stores logins for web pages, so that a model can have them filled in without seeing them: encrypted
// entries (AES-256-GCM) bound to exact origins, and a seal over the list.
//
// Names and origins are stored in clear text, authenticated by the encryption. The key is in the keyring, a file, or
// the environment. Scrub replaces revealed secrets in any text, in the spellings that pages and protocols use. The
// package does not know who asks.
package vault
