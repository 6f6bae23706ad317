package discordtest

import (
	"clank/internal/discordtest/hub"
	"clank/internal/discordtest/rest"
	"clank/internal/discordtest/shape"
)

// What the packages below have and tests use.
type (
	// A Command that an application has registered.
	Command = shape.Command
	// A CommandOption is a parameter, a subcommand or a group of those.
	CommandOption = shape.CommandOption
	// An OptionChoice is a value that a person may pick.
	OptionChoice = shape.OptionChoice
	// A Component is a row, a button, a menu, an input, or another part of a message or modal.
	Component = shape.Component
	// A SelectOption is one choice of a menu.
	SelectOption = shape.SelectOption
	// BotStreams says what comes of a bot's wish to go live.
	BotStreams = hub.BotStreams
	// An Embed is a card below a message.
	Embed = shape.Embed
	// EmbedFooter is the small text at the end.
	EmbedFooter = shape.EmbedFooter
	// EmbedMedia is a picture: an http address, or attachment://name of a file of the same message.
	EmbedMedia = shape.EmbedMedia
	// EmbedAuthor is the small text at the top.
	EmbedAuthor = shape.EmbedAuthor
	// EmbedField is a heading with text.
	EmbedField = shape.EmbedField
	// A Stream is what somebody shows in a call.
	Stream = hub.Stream
	// Intents is what a gateway session asks to hear of.
	Intents = shape.Intents
	// An Interaction is a command, a pressed button, a filled modal or a question for completions, and
	// what the bot has answered so far.
	Interaction = shape.Interaction
	// A Modal is a form that the person sees.
	Modal = shape.Modal
	// A Message as it is now.
	Message = shape.Message
	// A Reference points from a reply to the message it answers.
	Reference = shape.Reference
	// InteractionMetadata tells which interaction a message answers.
	InteractionMetadata = shape.InteractionMetadata
	// An Attachment is a file of a message.
	Attachment = shape.Attachment
	// A ReactionCount sums up one emoji below a message.
	ReactionCount = shape.ReactionCount
	// An Emoji is a character (ID nil) or a guild's own picture.
	Emoji = shape.Emoji
	// A Version is what a message was from one edit to the next.
	Version = shape.Version
	// A Reaction is one person's emoji below a message.
	Reaction = shape.Reaction
	// Permissions is a set of permission bits.
	Permissions = shape.Permissions
	// A Request is one call of the REST API as it came.
	Request = shape.Request
	// A Frame is one message on a gateway connection.
	Frame = hub.Frame
	// A Disconnect is the end of one gateway connection.
	Disconnect = hub.Disconnect
	// A Route names one kind of request, for RateLimitNext and its kind.
	Route = shape.Route
	// Hold is a request that the server has received and does not answer yet.
	Hold = shape.Hold
	// Typing is one "… is typing", which lasts ten seconds.
	Typing = shape.Typing
	// Config is what a Server can be told before it starts.
	Config = hub.Config
	// A User is a person or a bot.
	User = shape.User
	// A Bot is an account that can sign in.
	Bot = shape.Bot
	// A Role of a guild.
	Role = shape.Role
	// A Member is a user in a guild.
	Member = shape.Member
	// ChannelType tells what a channel is.
	ChannelType = shape.ChannelType
	// An Overwrite changes permissions in one channel, for a role (type 0) or a member (type 1).
	Overwrite = shape.Overwrite
	// A Channel of a guild, or a conversation of a bot with one person.
	Channel = shape.Channel
	// A Guild is what people call a server.
	Guild = shape.Guild
	// A VoiceState says in which voice channel a user is.
	VoiceState = shape.VoiceState
)

// Option types of slash commands, with Discord's numbers.
const (
	SubCommand      = shape.SubCommand
	SubCommandGroup = shape.SubCommandGroup
	StringOption    = shape.StringOption
	IntegerOption   = shape.IntegerOption
	BooleanOption   = shape.BooleanOption
	UserOption      = shape.UserOption
	ChannelOption   = shape.ChannelOption
	RoleOption      = shape.RoleOption
	Mentionable     = shape.Mentionable
	NumberOption    = shape.NumberOption
	FileOption      = shape.FileOption
)

// Component types, with Discord's numbers.
const (
	ActionRow        = shape.ActionRow
	ButtonComponent  = shape.ButtonComponent
	StringSelect     = shape.StringSelect
	TextInput        = shape.TextInput
	UserSelect       = shape.UserSelect
	ChannelSelect    = shape.ChannelSelect
	SectionComponent = shape.SectionComponent
	ContainerV2      = shape.ContainerV2
)

// Button styles.
const (
	PrimaryButton = shape.PrimaryButton
	LinkButton    = shape.LinkButton
	PremiumButton = shape.PremiumButton
)

// What comes of it. What the real service does is not known; it is one of the
// first three.
const (
	IgnoreBots = hub.IgnoreBots
	DeleteBots = hub.DeleteBots
	CloseBots  = hub.CloseBots
	AllowBots  = hub.AllowBots
)

// Gateway close codes.
const (
	CloseUnknownError      = hub.CloseUnknownError
	CloseUnknownOpcode     = hub.CloseUnknownOpcode
	CloseDecodeError       = hub.CloseDecodeError
	CloseNotAuthenticated  = hub.CloseNotAuthenticated
	CloseAuthFailed        = hub.CloseAuthFailed
	CloseAlreadyAuthed     = hub.CloseAlreadyAuthed
	CloseInvalidSeq        = hub.CloseInvalidSeq
	CloseRateLimited       = hub.CloseRateLimited
	CloseSessionTimedOut   = hub.CloseSessionTimedOut
	CloseInvalidShard      = hub.CloseInvalidShard
	CloseShardingRequired  = hub.CloseShardingRequired
	CloseInvalidVersion    = hub.CloseInvalidVersion
	CloseInvalidIntents    = hub.CloseInvalidIntents
	CloseDisallowedIntents = hub.CloseDisallowedIntents
)

// Reasons of STREAM_DELETE.
const (
	StreamUserRequested  = hub.StreamUserRequested
	StreamEnded          = hub.StreamEnded
	StreamFull           = hub.StreamFull
	StreamUnauthorized   = hub.StreamUnauthorized
	StreamRateLimited    = hub.StreamRateLimited
	StreamParseFailed    = hub.StreamParseFailed
	StreamInvalidChannel = hub.StreamInvalidChannel
)

// Intents that matter here, with Discord's numbers.
const (
	Guilds           = shape.Guilds
	GuildMembers     = shape.GuildMembers
	GuildVoiceStates = shape.GuildVoiceStates
	GuildPresences   = shape.GuildPresences
	GuildMessages    = shape.GuildMessages
	GuildReactions   = shape.GuildReactions
	GuildTyping      = shape.GuildTyping
	DirectMessages   = shape.DirectMessages
	DirectReactions  = shape.DirectReactions
	DirectTyping     = shape.DirectTyping
	MessageContent   = shape.MessageContent
)

// Interaction types, with Discord's numbers.
const (
	CommandInteraction      = rest.CommandInteraction
	ComponentInteraction    = rest.ComponentInteraction
	AutocompleteInteraction = rest.AutocompleteInteraction
	ModalInteraction        = rest.ModalInteraction
)

// Answers to interactions, with Discord's numbers.
const (
	AnswerPong         = rest.AnswerPong
	AnswerMessage      = rest.AnswerMessage
	AnswerDeferred     = rest.AnswerDeferred
	AnswerDeferredEdit = rest.AnswerDeferredEdit
	AnswerEdit         = rest.AnswerEdit
	AnswerChoices      = rest.AnswerChoices
	AnswerModal        = rest.AnswerModal
)

// Message types and flags, with Discord's numbers.
const (
	PlainMessage        = shape.PlainMessage
	ThreadStarted       = shape.ThreadStarted
	ReplyMessage        = shape.ReplyMessage
	SlashCommandMessage = shape.SlashCommandMessage
	FlagSuppressEmbeds  = shape.FlagSuppressEmbeds
	FlagHasThread       = shape.FlagHasThread
	FlagEphemeral       = shape.FlagEphemeral
	FlagLoading         = shape.FlagLoading
	FlagSilent          = shape.FlagSilent
	FlagComponentsV2    = shape.FlagComponentsV2
)

// Permission bits that the server looks at, with Discord's numbers.
const (
	Administrator      = shape.Administrator
	ManageChannels     = shape.ManageChannels
	AddReactions       = shape.AddReactions
	GoLive             = shape.GoLive
	ViewChannel        = shape.ViewChannel
	SendMessages       = shape.SendMessages
	ManageMessages     = shape.ManageMessages
	EmbedLinks         = shape.EmbedLinks
	AttachFiles        = shape.AttachFiles
	ReadMessageHistory = shape.ReadMessageHistory
	MentionEveryone    = shape.MentionEveryone
	Connect            = shape.Connect
	Speak              = shape.Speak
	MoveMembers        = shape.MoveMembers
	UseCommands        = shape.UseCommands
	CreateThreads      = shape.CreateThreads
	SendInThreads      = shape.SendInThreads
	Everyday           = shape.Everyday
)

// Routes of the API that the server knows.
const (
	RouteGateway            = shape.RouteGateway
	RouteGatewayBot         = shape.RouteGatewayBot
	RouteGetUser            = shape.RouteGetUser
	RouteGetApplication     = shape.RouteGetApplication
	RouteGetOwnApplication  = shape.RouteGetOwnApplication
	RouteGetOwnGuilds       = shape.RouteGetOwnGuilds
	RouteCreateDM           = shape.RouteCreateDM
	RouteGetGuild           = shape.RouteGetGuild
	RouteGetGuildChannels   = shape.RouteGetGuildChannels
	RouteGetRoles           = shape.RouteGetRoles
	RouteGetMember          = shape.RouteGetMember
	RouteGetChannel         = shape.RouteGetChannel
	RouteTyping             = shape.RouteTyping
	RouteListMessages       = shape.RouteListMessages
	RouteGetMessage         = shape.RouteGetMessage
	RouteCreateMessage      = shape.RouteCreateMessage
	RouteEditMessage        = shape.RouteEditMessage
	RouteDeleteMessage      = shape.RouteDeleteMessage
	RouteStartThread        = shape.RouteStartThread
	RouteAddReaction        = shape.RouteAddReaction
	RouteRemoveReaction     = shape.RouteRemoveReaction
	RouteGetReactions       = shape.RouteGetReactions
	RouteListCommands       = shape.RouteListCommands
	RouteCreateCommand      = shape.RouteCreateCommand
	RouteSetCommands        = shape.RouteSetCommands
	RouteDeleteCommand      = shape.RouteDeleteCommand
	RouteListGuildCommands  = shape.RouteListGuildCommands
	RouteCreateGuildCommand = shape.RouteCreateGuildCommand
	RouteSetGuildCommands   = shape.RouteSetGuildCommands
	RouteDeleteGuildCommand = shape.RouteDeleteGuildCommand
	RouteRespond            = shape.RouteRespond
	RouteFollowup           = shape.RouteFollowup
	RouteGetResponse        = shape.RouteGetResponse
	RouteEditResponse       = shape.RouteEditResponse
	RouteStreamPreview      = shape.RouteStreamPreview
	RouteDeleteResponse     = shape.RouteDeleteResponse
)

// Channel types as Discord numbers them.
const (
	TextChannel   = shape.TextChannel
	DirectMessage = shape.DirectMessage
	VoiceChannel  = shape.VoiceChannel
	PublicThread  = shape.PublicThread
)
