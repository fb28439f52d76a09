/**
 * Joins JUnit and Ravel. {@link ravel.junit.RavelListener} tells a recorded JVM where each test begins and ends;
 * {@link ravel.junit.RunTests} runs one test, or all of a project, in a JVM that Ravel starts; {@link ravel.junit.RavelTest} lets a plain test run
 * prove the concurrency bugs of one test.
 */
package ravel.junit;
