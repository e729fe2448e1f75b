// The server: acts go out, pictures come in. Every request carries the run's token and stays on this origin.

const token = document.querySelector("meta[name=demo-token]").content;

export class Problem extends Error {}

async function ask(path, options = {}) {
  const answer = await fetch(path, { ...options, headers: { ...options.headers, "X-Demo-Token": token } });
  if (answer.status === 204) return null;
  const content = answer.headers.get("Content-Type") === "application/json" ? await answer.json() : {};
  if (!answer.ok) throw new Problem(content.problem ?? `The demo's server answered ${answer.status}.`);
  return content;
}

export const get = (path, signal) => ask(path, { signal });

export const post = (name, body) =>
  ask(`/api/${name}`, { method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json" } });

// Calls `draw` with each new picture of what `person()` sees. `restart()` looks at once, as somebody else.
export function watch(person, draw, lost) {
  let going = new AbortController();
  let seen = "";
  (async () => {
    for (;;) {
      const whose = person();
      try {
        const found = await get(`/api/look?person=${encodeURIComponent(whose)}&seen=${seen}`, going.signal);
        lost(false);
        if (found && whose === person()) {
          seen = found.seen;
          draw(found.picture);
        }
      } catch (error) {
        if (error.name === "AbortError") continue;
        lost(true);
        await new Promise((resume) => setTimeout(resume, 1000));
      }
    }
  })();
  return {
    restart() {
      going.abort();
      going = new AbortController();
      seen = "";
    },
  };
}
