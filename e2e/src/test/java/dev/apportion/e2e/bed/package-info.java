/**
 * The test bed: real servers and programs as JUnit infrastructure. {@link dev.apportion.e2e.bed.ToolCache} builds the programs,
 * {@link dev.apportion.e2e.bed.WithApiServer} gives a test an API server, {@link dev.apportion.e2e.bed.CoreDns} is a DNS server,
 * {@link dev.apportion.e2e.bed.Question} asks it.
 */
@NullMarked
package dev.apportion.e2e.bed;

import org.jspecify.annotations.NullMarked;
