// Which slash commands fit what has been typed. Pure.

// { options: [{ line, syntax, summary }], usage: syntax or "", active: index or -1 }
export function complete(text, command, commands) {
  const none = { options: [], usage: "", active: -1 };
  if (!text.startsWith("/")) return none;
  const [typed, word = "", ...rest] = text.split(/ +/);
  if (!command.startsWith(typed) || (typed !== command && text.includes(" "))) return none;
  const named = commands.find((one) => one.name === word);
  if (named || rest.length) return { ...none, usage: named ? `${command} ${named.syntax}` : "" };
  const options = commands
    .filter((one) => one.name.startsWith(word))
    .map((one) => ({ line: `${command} ${one.name} `, syntax: one.syntax, name: one.name, summary: one.summary }));
  return { options, usage: "", active: typed === command && word === "" ? -1 : 0 };
}
