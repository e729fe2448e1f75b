// What the page knows: the last picture, who one is, and what is open on the screen. Drawing reads it, acts change it.

export const state = {
  start: null, // roles, commands, the bot's id
  picture: null, // what this person sees, as the server told last
  person: null,
  place: {}, // person -> channel that is open
  thread: null, // ts of the parent of the thread that is open
  notices: [], // what Slack itself said to one person only: { person, channel, ts, text }
};

export const role = () => state.start.roles.find((one) => one.user === state.person);

// The app's Home tab stands among the places: it has no messages, and no box to write in.
export const HOME = { id: "home", name: "Home", home: true, unread: 0, pinged: 0 };

export const here = () => {
  const wanted = state.place[state.person] ?? role().start;
  if (wanted === HOME.id) return HOME;
  const places = state.picture.places;
  return places.find((one) => one.id === wanted) ?? places[0];
};

export const nameOf = (user) => state.picture.people[user]?.name ?? user;

export const messagesHere = () => state.picture.messages[here().id] ?? [];
