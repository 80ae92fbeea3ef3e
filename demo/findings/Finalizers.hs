-- | Entries of a table that is replaced again and again: each with a weak pointer and its finalizer, or one for all.
--
-- > Finalizers each    a finalizer for each entry
-- > Finalizers one     one for each table
-- > Finalizers many    one table of many entries that stays, each with a weak pointer
-- > Finalizers cache   entries that die soon, each with a weak pointer, in a program that collects much
-- > Finalizers shared  finalizers remove entries from a table to which two threads add them
-- > Finalizers files   a file is opened, written and closed for each line
module Main (main) where

import Control.Concurrent
import Control.Monad
import Data.IORef
import qualified Data.IntMap.Strict as IntMap
import System.Environment (getArgs)
import System.Mem.Weak (mkWeakPtr)

main :: IO ()
main = do
  [how] <- getArgs
  case how of
    "many" -> keep
    "cache" -> cache
    "shared" -> shared
    "files" -> forM_ [1 .. 4000 :: Int] (\n -> appendFile "/dev/null" (show n ++ "\n"))
    _ -> replaceOften how

shared :: IO ()
shared = do
  table <- newIORef IntMap.empty
  dones <- forM [0, 1] $ \thread -> do
    done <- newEmptyMVar
    _ <- forkIO $ do
      forM_ [thread * 3000 .. thread * 3000 + 2999] $ \key -> do
        ref <- newIORef key
        weak <- mkWeakIORef ref (atomicModifyIORef' table (\all' -> (IntMap.delete key all', ())))
        atomicModifyIORef' table (\all' -> (IntMap.insert key weak all', ()))
      putMVar done ()
    pure done
  mapM_ takeMVar dones

keep :: IO ()
keep = do
  table <- mapM newIORef [1 .. 60000 :: Int]
  mapM_ (\ref -> mkWeakIORef ref (pure ())) table
  forM_ [1 .. 10 :: Int] $ \_ -> forM_ table (`modifyIORef'` (+ 1))
  mapM readIORef table >>= print . sum

cache :: IO ()
cache = do
  table <- newIORef []
  forM_ [1 .. 200 :: Int] $ \number -> do
    let entries = map (+ number) [1 .. 4000]
    print (sum entries)
    forM_ (take 40 (iterate (drop 100) entries)) $ \part -> mkWeakPtr part (Just (pure ()))
    kept <- take 1 . (entries :) <$> readIORef table
    length kept `seq` writeIORef table kept

replaceOften :: String -> IO ()
replaceOften how = do
  released <- newIORef (0 :: Int)
  let release count = atomicModifyIORef' released (\all' -> (all' + count, ()))
      entry number = do
        ref <- newIORef (number :: Int)
        when (how == "each") $ void (mkWeakIORef ref (release 1))
        pure ref
  table <- newIORef []
  forM_ [1 .. 60 :: Int] $ \_ -> do
    entries <- mapM entry [1 .. 500]
    when (how == "one") $ void (mkWeakIORef (head entries) (release 500))
    writeIORef table entries
  readIORef table >>= mapM readIORef >>= print . sum
