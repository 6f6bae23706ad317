package discordtest

// What the packages below have and tests use.
type (
	// A Command that an application has registered.
	Command = ShapeCommand
	// A CommandOption is a parameter, a subcommand or a group of those.
	CommandOption = ShapeCommandOption
	// An OptionChoice is a value that a person may pick.
	OptionChoice = ShapeOptionChoice
	// A Component is a row, a button, a menu, an input, or another part of a message or modal.
	Component = ShapeComponent
	// A SelectOption is one choice of a menu.
	SelectOption = ShapeSelectOption
	// BotStreams says what comes of a bot's wish to go live.
	BotStreams = HubBotStreams
	// An Embed is a card below a message.
	Embed = ShapeEmbed
	// EmbedFooter is the small text at the end.
	EmbedFooter = ShapeEmbedFooter
	// EmbedMedia is a picture: an http address, or attachment://name of a file of the same message.
	EmbedMedia = ShapeEmbedMedia
	// EmbedAuthor is the small text at the top.
	EmbedAuthor = ShapeEmbedAuthor
	// EmbedField is a heading with text.
	EmbedField = ShapeEmbedField
	// A Stream is what somebody shows in a call.
	Stream = HubStream
	// Intents is what a gateway session asks to hear of.
	Intents = ShapeIntents
	// An Interaction is a command, a pressed button, a filled modal or a question for completions, and
	// what the bot has answered so far.
	Interaction = ShapeInteraction
	// A Modal is a form that the person sees.
	Modal = ShapeModal
	// A Message as it is now.
	Message = ShapeMessage
	// A Reference points from a reply to the message it answers.
	Reference = ShapeReference
	// InteractionMetadata tells which interaction a message answers.
	InteractionMetadata = ShapeInteractionMetadata
	// An Attachment is a file of a message.
	Attachment = ShapeAttachment
	// A ReactionCount sums up one emoji below a message.
	ReactionCount = ShapeReactionCount
	// An Emoji is a character (ID nil) or a guild's own picture.
	Emoji = ShapeEmoji
	// A Version is what a message was from one edit to the next.
	MessageVersion = ShapeMessageVersion
	// A Reaction is one person's emoji below a message.
	Reaction = ShapeReaction
	// Permissions is a set of permission bits.
	Permissions = ShapePermissions
	// A Request is one call of the REST API as it came.
	Request = ShapeRequest
	// A Frame is one message on a gateway connection.
	Frame = HubFrame
	// A Disconnect is the end of one gateway connection.
	Disconnect = HubDisconnect
	// A Route names one kind of request, for RateLimitNext and its kind.
	Route = ShapeRoute
	// RequestHold is a request that the server has received and does not answer yet.
	RequestHold = ShapeRequestHold
	// Typing is one "… is typing", which lasts ten seconds.
	Typing = ShapeTyping
	// Config is what a Server can be told before it starts.
	Config = HubConfig
	// A User is a person or a bot.
	User = ShapeUser
	// A Bot is an account that can sign in.
	Bot = ShapeBot
	// A Role of a guild.
	Role = ShapeRole
	// A Member is a user in a guild.
	Member = ShapeMember
	// ChannelType tells what a channel is.
	ChannelType = ShapeChannelType
	// An Overwrite changes permissions in one channel, for a role (type 0) or a member (type 1).
	Overwrite = ShapeOverwrite
	// A Channel of a guild, or a conversation of a bot with one person.
	Channel = ShapeChannel
	// A Guild is what people call a server.
	Guild = ShapeGuild
	// A VoiceState says in which voice channel a user is.
	VoiceState = ShapeVoiceState
)

// Option types of slash commands, with Discord's numbers.
const (
	SubCommand      = ShapeSubCommand
	SubCommandGroup = ShapeSubCommandGroup
	StringOption    = ShapeStringOption
	IntegerOption   = ShapeIntegerOption
	BooleanOption   = ShapeBooleanOption
	UserOption      = ShapeUserOption
	ChannelOption   = ShapeChannelOption
	RoleOption      = ShapeRoleOption
	Mentionable     = ShapeMentionable
	NumberOption    = ShapeNumberOption
	FileOption      = ShapeFileOption
)

// Component types, with Discord's numbers.
const (
	ActionRow        = ShapeActionRow
	ButtonComponent  = ShapeButtonComponent
	StringSelect     = ShapeStringSelect
	TextInput        = ShapeTextInput
	UserSelect       = ShapeUserSelect
	ChannelSelect    = ShapeChannelSelect
	SectionComponent = ShapeSectionComponent
	ContainerV2      = ShapeContainerV2
)

// Button styles.
const (
	PrimaryButton = ShapePrimaryButton
	LinkButton    = ShapeLinkButton
	PremiumButton = ShapePremiumButton
)

// What comes of it. What the real service does is not known; it is one of the
// first three.
const (
	IgnoreBots = HubIgnoreBots
	DeleteBots = HubDeleteBots
	CloseBots  = HubCloseBots
	AllowBots  = HubAllowBots
)

// Gateway close codes.
const (
	CloseUnknownError      = HubCloseUnknownError
	CloseUnknownOpcode     = HubCloseUnknownOpcode
	CloseDecodeError       = HubCloseDecodeError
	CloseNotAuthenticated  = HubCloseNotAuthenticated
	CloseAuthFailed        = HubCloseAuthFailed
	CloseAlreadyAuthed     = HubCloseAlreadyAuthed
	CloseInvalidSeq        = HubCloseInvalidSeq
	CloseRateLimited       = HubCloseRateLimited
	CloseSessionTimedOut   = HubCloseSessionTimedOut
	CloseInvalidShard      = HubCloseInvalidShard
	CloseShardingRequired  = HubCloseShardingRequired
	CloseInvalidVersion    = HubCloseInvalidVersion
	CloseInvalidIntents    = HubCloseInvalidIntents
	CloseDisallowedIntents = HubCloseDisallowedIntents
)

// Reasons of STREAM_DELETE.
const (
	StreamUserRequested  = HubStreamUserRequested
	StreamEnded          = HubStreamEnded
	StreamFull           = HubStreamFull
	StreamUnauthorized   = HubStreamUnauthorized
	StreamRateLimited    = HubStreamRateLimited
	StreamParseFailed    = HubStreamParseFailed
	StreamInvalidChannel = HubStreamInvalidChannel
)

// Intents that matter here, with Discord's numbers.
const (
	Guilds           = ShapeGuilds
	GuildMembers     = ShapeGuildMembers
	GuildVoiceStates = ShapeGuildVoiceStates
	GuildPresences   = ShapeGuildPresences
	GuildMessages    = ShapeGuildMessages
	GuildReactions   = ShapeGuildReactions
	GuildTyping      = ShapeGuildTyping
	DirectMessages   = ShapeDirectMessages
	DirectReactions  = ShapeDirectReactions
	DirectTyping     = ShapeDirectTyping
	MessageContent   = ShapeMessageContent
)

// Interaction types, with Discord's numbers.
const (
	CommandInteraction      = RestCommandInteraction
	ComponentInteraction    = RestComponentInteraction
	AutocompleteInteraction = RestAutocompleteInteraction
	ModalInteraction        = RestModalInteraction
)

// Answers to interactions, with Discord's numbers.
const (
	AnswerPong         = RestAnswerPong
	AnswerMessage      = RestAnswerMessage
	AnswerDeferred     = RestAnswerDeferred
	AnswerDeferredEdit = RestAnswerDeferredEdit
	AnswerEdit         = RestAnswerEdit
	AnswerChoices      = RestAnswerChoices
	AnswerModal        = RestAnswerModal
)

// Message types and flags, with Discord's numbers.
const (
	PlainMessage        = ShapePlainMessage
	ThreadStarted       = ShapeThreadStarted
	ReplyMessage        = ShapeReplyMessage
	SlashCommandMessage = ShapeSlashCommandMessage
	FlagSuppressEmbeds  = ShapeFlagSuppressEmbeds
	FlagHasThread       = ShapeFlagHasThread
	FlagEphemeral       = ShapeFlagEphemeral
	FlagLoading         = ShapeFlagLoading
	FlagSilent          = ShapeFlagSilent
	FlagComponentsV2    = ShapeFlagComponentsV2
)

// Permission bits that the server looks at, with Discord's numbers.
const (
	Administrator      = ShapeAdministrator
	ManageChannels     = ShapeManageChannels
	AddReactions       = ShapeAddReactions
	GoLive             = ShapeGoLive
	ViewChannel        = ShapeViewChannel
	SendMessages       = ShapeSendMessages
	ManageMessages     = ShapeManageMessages
	EmbedLinks         = ShapeEmbedLinks
	AttachFiles        = ShapeAttachFiles
	ReadMessageHistory = ShapeReadMessageHistory
	MentionEveryone    = ShapeMentionEveryone
	Connect            = ShapeConnect
	Speak              = ShapeSpeak
	MoveMembers        = ShapeMoveMembers
	UseCommands        = ShapeUseCommands
	CreateThreads      = ShapeCreateThreads
	SendInThreads      = ShapeSendInThreads
	Everyday           = ShapeEveryday
)

// Routes of the API that the server knows.
const (
	RouteGateway            = ShapeRouteGateway
	RouteGatewayBot         = ShapeRouteGatewayBot
	RouteGetUser            = ShapeRouteGetUser
	RouteGetApplication     = ShapeRouteGetApplication
	RouteGetOwnApplication  = ShapeRouteGetOwnApplication
	RouteGetOwnGuilds       = ShapeRouteGetOwnGuilds
	RouteCreateDM           = ShapeRouteCreateDM
	RouteGetGuild           = ShapeRouteGetGuild
	RouteGetGuildChannels   = ShapeRouteGetGuildChannels
	RouteGetRoles           = ShapeRouteGetRoles
	RouteGetMember          = ShapeRouteGetMember
	RouteGetChannel         = ShapeRouteGetChannel
	RouteTyping             = ShapeRouteTyping
	RouteListMessages       = ShapeRouteListMessages
	RouteGetMessage         = ShapeRouteGetMessage
	RouteCreateMessage      = ShapeRouteCreateMessage
	RouteEditMessage        = ShapeRouteEditMessage
	RouteDeleteMessage      = ShapeRouteDeleteMessage
	RouteStartThread        = ShapeRouteStartThread
	RouteAddReaction        = ShapeRouteAddReaction
	RouteRemoveReaction     = ShapeRouteRemoveReaction
	RouteGetReactions       = ShapeRouteGetReactions
	RouteListCommands       = ShapeRouteListCommands
	RouteCreateCommand      = ShapeRouteCreateCommand
	RouteSetCommands        = ShapeRouteSetCommands
	RouteDeleteCommand      = ShapeRouteDeleteCommand
	RouteListGuildCommands  = ShapeRouteListGuildCommands
	RouteCreateGuildCommand = ShapeRouteCreateGuildCommand
	RouteSetGuildCommands   = ShapeRouteSetGuildCommands
	RouteDeleteGuildCommand = ShapeRouteDeleteGuildCommand
	RouteRespond            = ShapeRouteRespond
	RouteFollowup           = ShapeRouteFollowup
	RouteGetResponse        = ShapeRouteGetResponse
	RouteEditResponse       = ShapeRouteEditResponse
	RouteStreamPreview      = ShapeRouteStreamPreview
	RouteDeleteResponse     = ShapeRouteDeleteResponse
)

// Channel types as Discord numbers them.
const (
	TextChannel   = ShapeTextChannel
	DirectMessage = ShapeDirectMessage
	VoiceChannel  = ShapeVoiceChannel
	PublicThread  = ShapePublicThread
)
