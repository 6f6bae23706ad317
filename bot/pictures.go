package bot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"clank/bot/discord"
	"clank/llm"

	"github.com/bwmarrin/discordgo"
)

const (
	maxPictures     = 4       // attachments of a message that are looked at
	maxPictureBytes = 8 << 20 // of each
	pictureTimeout  = 15 * time.Second
)

// pictures fetches the attached pictures, and says what was left out and why.
func (b *Bot) pictures(ctx context.Context, attached []*discordgo.MessageAttachment) (images []llm.Image, notes []string) {
	for _, a := range attached {
		if a == nil {
			continue
		}
		name := discord.EscapeLine(a.Filename, 80)
		switch {
		case !strings.HasPrefix(a.ContentType, "image/") && a.ContentType != "":
			notes = append(notes, name+" is attached; only pictures can be looked at")
		case len(images) == maxPictures:
			notes = append(notes, name+" is attached and was left out: too many pictures")
		case a.Size > maxPictureBytes:
			notes = append(notes, name+" is attached and was left out: it is too large")
		default:
			im, err := b.fetchPicture(ctx, a.URL)
			if err != nil {
				b.logger().Info("attachment not fetched", "error", err)
				notes = append(notes, name+" is attached and could not be looked at")
				continue
			}
			images = append(images, im)
		}
	}
	return images, notes
}

// fetchPicture fetches a picture from Discord's own hosts.
func (b *Bot) fetchPicture(ctx context.Context, address string) (llm.Image, error) {
	ctx, cancel := context.WithTimeout(ctx, pictureTimeout)
	defer cancel()
	u, err := url.Parse(address)
	if err != nil || !b.discordFile(u) {
		return llm.Image{}, errors.New("fetch an attachment: its address is not Discord's")
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return llm.Image{}, fmt.Errorf("fetch an attachment: %w", err)
	}
	client := b.httpClient()
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp, err := client.Do(req)
	if err != nil {
		return llm.Image{}, fmt.Errorf("fetch an attachment: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return llm.Image{}, fmt.Errorf("fetch an attachment: %s", resp.Status)
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxPictureBytes+1))
	if err != nil {
		return llm.Image{}, fmt.Errorf("fetch an attachment: %w", err)
	}
	if len(data) > maxPictureBytes {
		return llm.Image{}, errors.New("fetch an attachment: it is larger than it said")
	}
	switch kind := http.DetectContentType(data); kind {
	case "image/png", "image/jpeg", "image/webp", "image/gif":
		return llm.Image{MediaType: kind, Data: data}, nil
	default:
		return llm.Image{}, fmt.Errorf("fetch an attachment: it is %s, not a picture", kind)
	}
}

// discordFile reports whether u is where Discord keeps attachments, or on the
// host that stands in for Discord.
func (b *Bot) discordFile(u *url.URL) bool {
	if base, err := url.Parse(b.Base); err == nil && b.Base != "" && u.Host == base.Host && u.Scheme == base.Scheme {
		return true
	}
	return u.Scheme == "https" && (u.Host == "cdn.discordapp.com" || u.Host == "media.discordapp.net")
}
