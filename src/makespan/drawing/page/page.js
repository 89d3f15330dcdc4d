// The page of plans that a file holds.

import { showPlans } from "./charts.js";
import { listenToTheme, listenToTools } from "./controls.js";
import { plansOf } from "./data.js";
import { listenToPlayers } from "./player.js";
import { panels, plans, view } from "./view.js";

const content = (name) => document.getElementById(name).textContent;
showPlans(await plansOf(JSON.parse(content("data")), content("packed")));
listenToTools();
listenToPlayers();
listenToTheme();

// For scripts beside the page: what is seen, and where a bar is.
globalThis.makespan = { view, panels, plans };
