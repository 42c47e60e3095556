/** The studio's page, with a server behind it. */
import { Connection } from "./connection";
import { buildStudio } from "./studio";

buildStudio(document.getElementById("studio")!, new Connection());
